import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import type { ConfigArrivalOutcome, ConfigUpdate, XdsServer } from "../../index.js";
import { manualClock } from "../../testing/basics/manual-clock.js";
import { waitFor, within } from "../../testing/basics/wait-for.js";
import { type SotwStream, sotw } from "../../testing/clients/xds-client.js";
import { ads, perType, urlOf, withMemoryServer, withServer } from "../../testing/running-server.js";
import { cluster, listener, loadAssignment, routeConfiguration } from "../../testing/test-resources.js";

const typeUrl = urlOf("cluster");
const turn = () => new Promise((resolve) => setImmediate(resolve));

/** SotW: an answer repeats the names. */
async function answer(stream: SotwStream, rejection?: string, resourceNames: string[] = []): Promise<void> {
  const { typeUrl, versionInfo, nonce } = await stream.next();
  const error = rejection === undefined ? {} : { errorDetail: { code: 3, message: rejection } };
  stream.send({ typeUrl, responseNonce: nonce, versionInfo, resourceNames, ...error });
}

const synced = (server: XdsServer, ...ids: readonly string[]) =>
  waitFor(`${ids} to be synced`, () => ids.every((id) => server.node(id)?.state === "synced"));

/** The counts, without the details. */
function counts({ result, acknowledged, rejected, pending, absent }: ConfigArrivalOutcome) {
  return { result, acknowledged, rejected, pending, absent };
}

/** Clients of all clusters that have acknowledged everything, by node id. */
async function clients(
  server: XdsServer,
  open: () => SotwStream,
  ...ids: readonly string[]
): Promise<readonly SotwStream[]> {
  const streams = ids.map((id) => {
    const stream = open();
    stream.send({ node: { id, cluster: id.replace(/-.*/, "") }, typeUrl });
    return stream;
  });
  await Promise.all(streams.map((stream) => answer(stream)));
  await synced(server, ...ids);
  return streams;
}

describe("an arrival", () => {
  it("counts the nodes that acknowledged it, rejected it and why, or are pending; done says how it ended", () =>
    withServer({}, async ({ server, client, events }) => {
      const first = await server.config.set([cluster("a")]);
      assert.deepEqual(counts(await first.done()), {
        result: "complete",
        acknowledged: 0,
        rejected: 0,
        pending: 0,
        absent: 0,
      });
      const [one, two, three] = await clients(server, () => sotw(client.open(ads("sotw"))), "n1", "n2", "n3");
      const arrival = server.config.update({ upsert: [cluster("b")] });
      assert.equal(arrival.revision, first.revision + 1);
      const done = arrival.done();
      const { waiting } = arrival.status();
      assert.deepEqual(
        waiting.map(({ node, type }) => [node, type]),
        [1, 2, 3].map((index) => [`n${index}`, "cluster"]),
      );
      for (const { reason } of waiting) assert.equal(reason, "not-sent");
      await answer(one!);
      await answer(two!, "no room");
      await waitFor("two answers", () => arrival.status().pending === 1);
      const status = arrival.status();
      assert.deepEqual([status.acknowledged, status.rejected, status.pending], [1, 1, 1]);
      const [rejection] = status.rejections;
      assert.deepEqual([rejection?.node, rejection?.type, rejection?.message], ["n2", "cluster", "no room"]);
      await waitFor("it to be sent", () => arrival.status().waiting[0]?.reason === "not-answered");
      await answer(three!);
      const outcome = await within("the arrival", done);
      assert.deepEqual(counts(outcome), {
        result: "rejected",
        acknowledged: 2,
        rejected: 1,
        pending: 0,
        absent: 0,
      });
      assert.equal(outcome.rejections[0]?.message, "no room");
      assert.deepEqual(
        events.flatMap((event) => (event.kind === "configuration-arrived" ? [event.outcome.revision] : [])),
        [first.revision, arrival.revision],
      );
      // The fix reaches everybody.
      const fix = server.config.update({ upsert: [cluster("b", "fixed")] });
      const fixed = fix.done();
      await Promise.all([one, two, three].map((stream) => answer(stream!)));
      assert.equal((await within("the fix", fixed)).acknowledged, 3);
    }));

  it("does not wait for groups, types and names that it does not concern, nor for resources that another layer hides", () =>
    withMemoryServer(
      {
        groups: [
          { name: "edge", match: { cluster: "edge" }, layers: ["default", "edge"] },
          { name: "rest", match: {}, layers: ["default"] },
        ],
      },
      async ({ server, client }) => {
        server.config.set([cluster("a"), cluster("b"), listener("l")]);
        const edge = server.config.layer("edge");
        edge.set([cluster("a", "of the edge")]);
        const open = () => sotw(client.open(ads("sotw")));
        await clients(server, open, "edge-1");
        const [rest] = await clients(server, open, "rest-1");
        const names = open();
        names.send({ node: { id: "named-1" }, typeUrl, resourceNames: ["b"] });
        await answer(names, undefined, ["b"]);
        await synced(server, "named-1");
        const pending = (update: ConfigUpdate) =>
          server.config
            .update(update)
            .status()
            .waiting.map(({ node }) => node);

        assert.deepEqual(pending({ upsert: [listener("l", "new")] }), []);
        // `a` of the edge lies above.
        assert.deepEqual(pending({ upsert: [cluster("a", "new")] }), ["rest-1"]);
        await answer(rest!);
        await synced(server, "rest-1");
        const removed = server.config.remove({ type: "cluster", name: "b" });
        assert.deepEqual(
          removed.status().waiting.map(({ node }) => node),
          ["edge-1", "rest-1", "named-1"],
        );
        const ofEdge = edge.update({ upsert: [cluster("c")] });
        assert.deepEqual(
          ofEdge.status().waiting.map(({ node }) => node),
          ["edge-1"],
        );
        const nothing = server.config.update({});
        assert.equal(nothing.revision, ofEdge.revision);
        assert.equal((await nothing.done()).result, "complete");
      },
    ));

  it("is done when its own part is, whatever else the node waits for or rejected", () =>
    withMemoryServer({}, async ({ server, client }) => {
      server.config.set([cluster("a"), listener("l")]);
      const stream = sotw(client.open(ads("sotw")));
      stream.send({ node: { id: "n1" }, typeUrl });
      await answer(stream);
      stream.send({ typeUrl: urlOf("listener") });
      await answer(stream, "no such port");
      await waitFor("the NACK", () => server.node("n1")?.state === "rejected");
      const done = server.config.update({ upsert: [cluster("a", "new")] }).done();
      await answer(stream);
      assert.equal((await within("the arrival", done)).result, "complete");
      assert.equal(server.node("n1")?.state, "rejected");
    }));

  it("is done by something newer, though newer changes never end", () =>
    withMemoryServer({}, async ({ server, client }) => {
      server.config.set([cluster("a", "0")]);
      const [stream] = await clients(server, () => sotw(client.open(ads("sotw"))), "n1");
      const done = server.config.update({ upsert: [cluster("a", "1")] }).done();
      let outcome: ConfigArrivalOutcome | undefined;
      void done.then((ended) => {
        outcome = ended;
      });
      // Each answer finds the next change already published.
      let last = server.config.update({ upsert: [cluster("a", "2")] });
      for (let round = 3; outcome === undefined && round < 50; round++) {
        await turn();
        last = server.config.update({ upsert: [cluster("a", `${round}`)] });
        await answer(stream!);
        await turn();
      }
      assert.equal(outcome?.result, "complete");
      assert.equal(last.status().pending, 1);
      // A change that takes it back is as good.
      const added = server.config.update({ upsert: [cluster("b")] });
      const taken = added.done();
      server.config.remove({ type: "cluster", name: "b" });
      assert.equal((await within("what was taken back", taken)).acknowledged, 1);
    }));

  it("does not wait for nodes that leave, but waits for nodes that come back meanwhile", () =>
    withMemoryServer({}, async ({ server, client }) => {
      server.config.set([cluster("a")]);
      const raw = [client.open(ads("sotw")), client.open(ads("sotw"))];
      const opening = [...raw];
      const [one] = await clients(server, () => sotw(opening.shift()!), "n1", "n2");
      const arrival = server.config.update({ upsert: [cluster("b")] });
      const done = arrival.done();
      const named = arrival.done({ nodes: ["n2", "never"] });
      raw[1]?.cancel();
      assert.deepEqual(counts(await within("the named", named)), {
        result: "complete",
        acknowledged: 0,
        rejected: 0,
        pending: 0,
        absent: 2,
      });
      const back = sotw(client.open(ads("sotw")));
      back.send({ node: { id: "n2" }, typeUrl });
      const stranger = sotw(client.open(ads("sotw")));
      stranger.send({ node: { id: "n3" }, typeUrl });
      await waitFor("three nodes", () => server.nodes().length === 3);
      let ended = false;
      void done.then(() => {
        ended = true;
      });
      await answer(one!);
      await synced(server, "n1");
      assert.equal(ended, false);
      await answer(back);
      assert.deepEqual(counts(await within("the arrival", done)), {
        result: "complete",
        acknowledged: 2,
        rejected: 0,
        pending: 0,
        absent: 0,
      });
    }));

  it("waits for the selected nodes, for the given time, and no longer than the server runs", () => {
    const clock = manualClock();
    return withMemoryServer({ clock }, async ({ server, client }) => {
      server.config.set([cluster("a")]);
      const [one] = await clients(server, () => sotw(client.open(ads("sotw"))), "n1", "n2", "n3");
      const arrival = server.config.update({ upsert: [cluster("b")] });
      const first = arrival.done({ nodes: ["n1"], timeout: 1_000 });
      const others = arrival.done({ nodes: ({ id }) => id !== "n1", timeout: 1_000 });
      const all = arrival.done();
      assert.equal(arrival.status({ nodes: { id: "n?" } }).pending, 3);
      assert.equal(arrival.status({ nodes: { id: "n1", cluster: "*" } }).pending, 1);
      assert.throws(() => arrival.status({ nodes: { clutser: "*" } }), { name: "XdskitError" });
      await assert.rejects(arrival.done({ nodes: { clutser: "*" } }), { name: "XdskitError" });
      await answer(one!);
      assert.deepEqual(counts(await within("n1", first)), {
        result: "complete",
        acknowledged: 1,
        rejected: 0,
        pending: 0,
        absent: 0,
      });
      assert.equal(arrival.status({ nodes: ["n2"] }).pending, 1);
      await waitFor("what is sent to the others", () =>
        arrival.status().waiting.every(({ reason }) => reason === "not-answered"),
      );
      clock.advance(1_000);
      const late = await within("the timeout", others);
      assert.deepEqual(counts(late), { result: "timeout", acknowledged: 0, rejected: 0, pending: 2, absent: 0 });
      assert.deepEqual(
        late.waiting.map(({ node, reason }) => [node, reason]),
        [
          ["n2", "not-answered"],
          ["n3", "not-answered"],
        ],
      );
      assert.equal(clock.waiting, 0);
      const read = arrival.eachNode()[Symbol.iterator]();
      assert.deepEqual(read.next().value, ["n1", "acknowledged"]);
      await server.close({ timeoutMs: 500 });
      assert.throws(() => read.next(), { code: "XDSKIT_SERVER_CLOSED" });
      assert.equal((await within("the end", all)).result, "closed");
      assert.equal((await arrival.done()).result, "complete");
      // Nobody is seen any more, and nobody has acknowledged it.
      assert.throws(() => arrival.nodes(), { code: "XDSKIT_SERVER_CLOSED" });
      assert.throws(() => arrival.status(), { code: "XDSKIT_SERVER_CLOSED" });
    });
  });

  it("says which part of it waits and why, and is done when that part has gone too", () =>
    withMemoryServer({}, async ({ server, client }) => {
      server.config.set([cluster("old"), routeConfiguration("r", "old")]);
      const stream = sotw(client.open(ads("sotw")));
      stream.send({ node: { id: "n1" }, typeUrl });
      await answer(stream);
      stream.send({ typeUrl: urlOf("route"), resourceNames: ["r"] });
      await answer(stream, undefined, ["r"]);
      await synced(server, "n1");
      const arrival = server.config.set([cluster("new"), routeConfiguration("r", "new")]);
      const done = arrival.done();
      await answer(stream);
      await waitFor("the route to be sent", () => stream.count === 4);
      const why = "stays until the change or removal of route r is acknowledged";
      const waits = [{ kind: "break", type: "cluster", names: ["old"], for: { type: "route", names: ["r"] }, why }];
      assert.deepEqual(
        arrival.status().waiting.map(({ type, reason, waits, why }) => ({ type, reason, waits, why })),
        [{ type: "cluster", reason: "waits", waits, why: `old: ${why}` }],
      );
      const [clusters, routes] = server.node("n1")?.streams[0]?.types ?? [];
      assert.deepEqual([clusters?.state, clusters?.behind, clusters?.waits], ["pending", 1, waits]);
      assert.deepEqual([routes?.state, routes?.behind, routes?.waits], ["pending", 1, []]);
      assert.deepEqual(
        server.nodeConfig("n1")?.resources.map(({ name, state }) => [name, state]),
        [
          ["new", "synced"],
          ["old", "not-sent"],
          ["r", "sent"],
        ],
      );
      await answer(stream, undefined, ["r"]);
      await answer(stream);
      assert.deepEqual(counts(await within("the arrival", done)), {
        result: "complete",
        acknowledged: 1,
        rejected: 0,
        pending: 0,
        absent: 0,
      });
      await synced(server, "n1");
    }));

  it("waits for nodes that its steps do not reach yet, and says so", () => {
    const clock = manualClock();
    return withMemoryServer({ clock }, async ({ server, client }) => {
      server.config.set([cluster("a")]);
      const streams = await clients(server, () => sotw(client.open(ads("sotw"))), "n1", "n2");
      const steps = [{ match: { id: "n1" } }];
      const arrival = server.config.update({ upsert: [cluster("b")] }, { rollout: { steps, soakMs: 1_000 } });
      const done = arrival.done();
      await answer(streams[0]!);
      await waitFor("the ACK", () => arrival.status().acknowledged === 1);
      const { waiting, pending, heldBack } = arrival.status();
      const why = "1 resource held back by the rollout of all at step 1 of 1";
      assert.deepEqual([pending, heldBack, arrival.nodes().get("n2")], [0, 1, "held-back"]);
      assert.deepEqual(
        waiting.map((one) => [one.node, one.reason, one.why]),
        [["n2", "held-back", why]],
      );
      await waitFor("the turn of the other stream", () => server.node("n2")?.state === "held-back");
      clock.advance(1_000);
      await answer(streams[1]!);
      assert.deepEqual(counts(await within("the arrival", done)), {
        result: "complete",
        acknowledged: 2,
        rejected: 0,
        pending: 0,
        absent: 0,
      });
    });
  });

  it("is garbage collected when no program holds it and no wait for it runs", () =>
    withMemoryServer({}, async ({ server, client }) => {
      server.config.set([cluster("a")]);
      const [stream] = await clients(server, () => sotw(client.open(ads("sotw"))), "n1");
      const unheld = new WeakRef(server.config.update({ upsert: [cluster("b")] }));
      const awaited = new WeakRef(server.config.update({ upsert: [cluster("c")] }));
      const done = awaited.deref()?.done();
      setFlagsFromString("--expose-gc");
      const gc: () => void = runInNewContext("gc");
      await answer(stream!);
      assert.equal((await done)?.result, "complete");
      for (let round = 0; round < 20 && (unheld.deref() ?? awaited.deref()) !== undefined; round++) {
        await turn();
        gc();
      }
      assert.equal(unheld.deref() ?? awaited.deref(), undefined);
    }));

  it("counts a node with a stream for each type once", () =>
    withMemoryServer({}, async ({ server, client }) => {
      server.config.set([cluster("a"), loadAssignment("a", 1)]);
      const clusters = sotw(client.open(perType("sotw", "cluster")));
      const endpoints = sotw(client.open(perType("sotw", "endpoint")));
      clusters.send({ node: { id: "n1" }, typeUrl });
      endpoints.send({ node: { id: "n1" }, typeUrl: urlOf("endpoint"), resourceNames: ["a"] });
      await Promise.all([answer(clusters), answer(endpoints, undefined, ["a"])]);
      await synced(server, "n1");
      const arrival = server.config.set([cluster("a", "new"), loadAssignment("a", 2), routeConfiguration("r", "a")]);
      const done = arrival.done();
      await answer(clusters);
      await waitFor("the ACK", () => arrival.status().waiting[0]?.type === "endpoint");
      assert.equal(arrival.status().pending, 1);
      await answer(endpoints, undefined, ["a"]);
      assert.deepEqual(counts(await within("the arrival", done)), {
        result: "complete",
        acknowledged: 1,
        rejected: 0,
        pending: 0,
        absent: 0,
      });
    }));
});
