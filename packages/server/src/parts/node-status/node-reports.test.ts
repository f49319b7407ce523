import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { createResource } from "@xdskit/api";
import type { NodeState } from "../../contracts/nodes/node-status.js";
import type { XdsServer } from "../../index.js";
import { manualClock } from "../../testing/basics/manual-clock.js";
import { waitFor } from "../../testing/basics/wait-for.js";
import { type DeltaStream, delta, type SotwStream, sotw } from "../../testing/clients/xds-client.js";
import { ads, perType, type Running, urlOf, withMemoryServer, withServer } from "../../testing/running-server.js";
import { cluster, listener, loadAssignment, routeConfiguration, routedListener } from "../../testing/test-resources.js";

const typeUrl = urlOf("cluster");
const stateOf = (server: XdsServer, id = "n1") => server.node(id)?.state;
const becomes = (server: XdsServer, state: NodeState, id = "n1") =>
  waitFor(`${id} to be ${state}`, () => stateOf(server, id) === state);

/** Asks for all clusters as a node. */
function ask(stream: SotwStream, id = "n1", names: readonly string[] = []): void {
  stream.send({ node: { id }, typeUrl, resourceNames: [...names] });
}

async function answer(stream: SotwStream, rejection?: string): Promise<void> {
  const { versionInfo, nonce } = await stream.next();
  const error = rejection === undefined ? {} : { errorDetail: { code: 3, message: rejection } };
  stream.send({ typeUrl, responseNonce: nonce, versionInfo, ...error });
}

async function answerDelta(stream: DeltaStream): Promise<void> {
  stream.send({ typeUrl, responseNonce: (await stream.next()).nonce });
}

/** Node `n1` has cluster `a` and a route to it. */
async function withRoute(server: XdsServer, client: Running["client"]) {
  server.config.set([cluster("a"), routeConfiguration("r", "a")]);
  const stream = delta(client.open(ads("delta")));
  const acknowledge = ({ typeUrl, nonce }: { typeUrl: string; nonce: string }, error = {}) =>
    stream.send({ typeUrl, responseNonce: nonce, ...error });
  stream.send({ node: { id: "n1" }, typeUrl });
  acknowledge(await stream.next());
  stream.send({ typeUrl: urlOf("route"), resourceNamesSubscribe: ["r"] });
  acknowledge(await stream.next());
  await becomes(server, "synced");
  return { stream, acknowledge };
}

describe("node reports", () => {
  it("the server's report follows a node from its first request to the acknowledgement, a change, a rejection and the fix", () =>
    withServer({}, async ({ server, client }) => {
      server.config.set([cluster("a"), cluster("b")]);
      assert.deepEqual(server.nodes(), []);
      const before = Date.now();
      const stream = sotw(client.open(ads("sotw")));
      ask(stream);
      await waitFor("the node", () => server.node("n1") !== undefined);
      assert.equal(stateOf(server), "pending");
      await answer(stream);
      await becomes(server, "synced");
      const [type] = server.nodes()[0]?.streams[0]?.types ?? [];
      const version = server.snapshotOf("all")?.sets.get(typeUrl)?.version;
      assert.equal(type?.type, "cluster");
      assert.deepEqual(
        [type?.wildcard, type?.names, type?.resources, type?.behind, type?.waits, type?.rejected],
        [true, 0, 2, 0, [], undefined],
      );
      assert.deepEqual(
        [type?.wantedVersion, type?.sent?.version, type?.acknowledged?.version],
        [version, version, version],
      );
      for (const at of [type?.sent?.at, type?.acknowledged?.at]) {
        assert.ok(at !== undefined && at.getTime() >= before - 1 && at.getTime() <= Date.now() + 1, `${at}`);
      }

      server.config.update({ upsert: [cluster("a", "new"), cluster("c")] });
      const changed = server.node("n1")?.streams[0]?.types[0];
      assert.deepEqual([changed?.state, changed?.behind, changed?.resources], ["pending", 2, 3]);
      await answer(stream, "no, thanks");
      await becomes(server, "rejected");
      const rejected = server.node("n1")?.streams[0]?.types[0];
      assert.equal(rejected?.rejected?.message, "no, thanks");
      assert.equal(rejected?.rejected?.code, 3);
      assert.notEqual(rejected?.rejected?.version, version);
      assert.ok((rejected?.behind ?? 0) > 0);

      server.config.update({ upsert: [cluster("a", "newer"), cluster("c", "newer")] });
      await answer(stream);
      await becomes(server, "synced");
      assert.equal(server.node("n1")?.streams[0]?.types[0]?.rejected, undefined);
    }));

  it("the server's report gathers the streams of one node id, and forgets it with the last of them", () =>
    withMemoryServer({}, async ({ server, client }) => {
      server.config.set([cluster("a"), loadAssignment("a", 1)]);
      const clusters = client.open(perType("sotw", "cluster"));
      const endpoints = client.open(perType("sotw", "endpoint"));
      ask(sotw(clusters));
      sotw(endpoints).send({ node: { id: "n1" }, resourceNames: ["a", "gone"] });
      ask(sotw(client.open(ads("sotw"))), "n2");
      await waitFor("all streams", () => server.node("n1")?.streams.length === 2 && server.nodes().length === 2);
      const types = server.node("n1")?.streams.flatMap(({ types }) => types);
      assert.deepEqual(
        types?.map(({ type, wildcard, names, resources }) => [type, wildcard, names, resources]),
        [
          ["cluster", true, 0, 1],
          ["endpoint", false, 2, 1],
        ],
      );
      assert.doesNotThrow(() => JSON.stringify(types));
      clusters.cancel();
      await waitFor("the stream to go", () => server.node("n1")?.streams.length === 1);
      endpoints.cancel();
      await waitFor("the node to go", () => server.node("n1") === undefined);
      assert.deepEqual(
        server.nodes().map(({ id }) => id),
        ["n2"],
      );
    }));

  for (const steps of [undefined, [{ percent: 100 }]] as const) {
    it(`the server's report calls a client synced if it has extra resources only while old listeners drain: changes${steps && ", in steps,"} arrive`, () =>
      withServer(
        { rollout: steps === undefined ? "off" : { steps, soakMs: 0 } },
        async ({ server, client, events }) => {
          server.config.set([cluster("a"), routedListener("l", "r"), routeConfiguration("r", "a")]);
          const stream = delta(client.open(ads("delta")));
          const acknowledge = async (type: Parameters<typeof urlOf>[0]) => {
            const response = await stream.next();
            assert.equal(response.typeUrl, urlOf(type));
            stream.send({ typeUrl: response.typeUrl, responseNonce: response.nonce });
            return response;
          };
          stream.send({ node: { id: "n1", userAgentName: "envoy" }, typeUrl });
          await acknowledge("cluster");
          stream.send({ typeUrl: urlOf("listener") });
          await acknowledge("listener");
          stream.send({ typeUrl: urlOf("route"), resourceNamesSubscribe: ["r"] });
          await acknowledge("route");
          await becomes(server, "synced");

          const moved = [cluster("b"), routedListener("l", "s"), routeConfiguration("s", "b")];
          const arrival = server.config.set(moved);
          await acknowledge("cluster");
          await acknowledge("listener");
          stream.send({ typeUrl: urlOf("route"), resourceNamesSubscribe: ["s"] });
          await acknowledge("route");
          assert.equal((await arrival.done({ timeout: 5_000 })).result, "complete");
          await becomes(server, "synced");
          const [clusters, , routes] = server.node("n1")?.streams[0]?.types ?? [];
          for (const report of [clusters, routes]) {
            const [wait, ...others] = report?.waits ?? [];
            assert.deepEqual([report?.state, report?.behind, wait?.kind, others], ["synced", 0, "linger", []]);
          }

          const next = server.config.set([...moved, cluster("c")]);
          assert.deepEqual(
            (await acknowledge("cluster")).resources.map(({ name }) => name),
            ["c"],
          );
          assert.equal((await next.done({ timeout: 5_000 })).result, "complete");
          assert.equal(stream.count, 7);
          assert.deepEqual(
            events.filter(({ kind }) => kind === "wait-ended"),
            [],
          );
        },
      ));
  }

  it("the server's report does not say that a client has an unanswered resource, though the changes that waited went on", () => {
    const clock = manualClock();
    return withMemoryServer({ clock }, async ({ server, client }) => {
      const { stream, acknowledge } = await withRoute(server, client);

      server.config.update({ upsert: [cluster("b"), routeConfiguration("r", "b")] });
      const clusters = await stream.next();
      clock.advance(15_001);
      const routes = await stream.next();
      assert.deepEqual([clusters.typeUrl, routes.typeUrl], [typeUrl, urlOf("route")]);
      acknowledge(routes);
      const acknowledged = () => server.node("n1")?.streams[0]?.types.find(({ type }) => type === "route")?.state;
      await waitFor("the routes", () => acknowledged() === "synced");
      assert.equal(stateOf(server), "stale");
      acknowledge(clusters, { errorDetail: { code: 3, message: "no, thanks" } });
      await becomes(server, "rejected");
      const report = server.node("n1")?.streams[0]?.types.find(({ type }) => type === "cluster");
      assert.deepEqual([report?.rejected?.message, report?.behind], ["no, thanks", 1]);
    });
  });

  it("the server's report keeps showing a rejection until the client answers otherwise, though the changes that waited went on", () => {
    const clock = manualClock();
    return withMemoryServer({ clock }, async ({ server, client }) => {
      const { stream, acknowledge } = await withRoute(server, client);
      const report = () => server.node("n1")?.streams[0]?.types.find(({ type }) => type === "cluster");
      const version = report()?.acknowledged?.version;

      server.config.update({ upsert: [cluster("a", "bad")] });
      acknowledge(await stream.next(), { errorDetail: { code: 3, message: "no, thanks" } });
      await becomes(server, "rejected");
      server.config.update({ upsert: [cluster("a", "good"), cluster("b"), routeConfiguration("r", "b")] });
      const clusters = await stream.next();
      clock.advance(15_001);
      acknowledge(await stream.next());
      await waitFor("the routes", () => server.node("n1")?.streams[0]?.types.at(-1)?.state === "synced");
      assert.deepEqual(
        [stateOf(server), report()?.rejected?.message, report()?.acknowledged?.version, report()?.behind],
        ["rejected", "no, thanks", version, 2],
      );
      acknowledge(clusters);
      await becomes(server, "synced");
    });
  });

  it("the server's report calls a client stale that is silent for 15 s, though it is sent more", () => {
    const clock = manualClock();
    return withMemoryServer({ clock }, async ({ server, client }) => {
      server.config.set([cluster("a")]);
      const stream = delta(client.open(ads("delta")));
      stream.send({ node: { id: "n1" }, typeUrl });
      await stream.next();
      clock.advance(14_000);
      server.config.update({ upsert: [cluster("b")] });
      const second = await stream.next();
      assert.equal(stateOf(server), "pending");
      clock.advance(1_001);
      assert.equal(stateOf(server), "stale");
      assert.deepEqual(server.nodeStates(), { synced: 0, "held-back": 0, pending: 0, stale: 1, rejected: 0 });
      stream.send({ typeUrl, responseNonce: "1" });
      stream.send({ typeUrl, responseNonce: second.nonce });
      await becomes(server, "synced");
      // The new change did not wait before.
      clock.advance(60_000);
      server.config.update({ upsert: [cluster("c")] });
      assert.equal(stateOf(server), "pending");
      assert.deepEqual(server.nodeStates(), { synced: 0, "held-back": 0, pending: 1, stale: 0, rejected: 0 });
      await answerDelta(stream);
      await becomes(server, "synced");
      assert.deepEqual(server.nodeStates(), { synced: 1, "held-back": 0, pending: 0, stale: 0, rejected: 0 });
    });
  });

  it("the server's report says which moment's configuration the client uses that is the furthest behind", () => {
    const clock = manualClock();
    return withMemoryServer({ clock }, async ({ server, client }) => {
      const behindMs = () => {
        const oldest = server.oldestInUse();
        return oldest && Math.round((Date.now() - oldest.getTime()) / 1_000) * 1_000;
      };
      server.config.set([cluster("a")]);
      assert.equal(behindMs(), undefined);
      const [first, second] = [delta(client.open(ads("delta"))), delta(client.open(ads("delta")))];
      for (const [stream, id] of [
        [first, "n1"],
        [second, "n2"],
      ] as const) {
        stream.send({ node: { id }, typeUrl });
        await answerDelta(stream);
        await becomes(server, "synced", id);
      }
      clock.advance(60_000);
      assert.equal(behindMs(), 0);
      server.config.update({ upsert: [cluster("b")] });
      assert.equal(behindMs(), 0);
      await answerDelta(first);
      const { nonce } = await second.next();
      await becomes(server, "synced", "n1");
      clock.advance(60_000);
      server.config.update({ upsert: [cluster("c")] });
      await answerDelta(first);
      clock.advance(60_000);
      assert.equal(behindMs(), 120_000);
      second.send({ typeUrl, responseNonce: nonce });
      await answerDelta(second);
      await becomes(server, "synced", "n2");
      await becomes(server, "synced", "n1");
      assert.equal(behindMs(), 0);
    });
  });

  it("the server's report calls a change that waits for a rejected resource pending, however long", () => {
    const clock = manualClock();
    return withMemoryServer({ clock }, async ({ server, client }) => {
      server.config.set([cluster("a"), routeConfiguration("r", "a")]);
      const stream = delta(client.open(ads("delta")));
      stream.send({ node: { id: "n1" }, typeUrl });
      await answerDelta(stream);
      const routes = urlOf("route");
      stream.send({ typeUrl: routes, resourceNamesSubscribe: ["r"] });
      const { nonce: responseNonce } = await stream.next();
      stream.send({ typeUrl: routes, responseNonce });
      await becomes(server, "synced");
      server.config.update({ upsert: [cluster("b"), routeConfiguration("r", "b")] });
      const { nonce } = await stream.next();
      stream.send({ typeUrl, responseNonce: nonce, errorDetail: { code: 3, message: "b is bad" } });
      await becomes(server, "rejected");
      clock.advance(60_000);
      const states = server.node("n1")?.streams[0]?.types.map(({ type, state }) => `${type} ${state}`);
      assert.deepEqual(states, ["cluster rejected", "route pending"]);
      const whys = server.node("n1")?.streams[0]?.types.map(({ why }) => why);
      assert.deepEqual(whys, ["b is bad", "r: waits until cluster b is acknowledged; the client rejected b"]);
    });
  });

  it("the server's report gives each requested resource a state (synced, sent, not sent, rejected, missing), and leaves out others", () =>
    withMemoryServer({}, async ({ server, client }) => {
      server.config.set([cluster("a"), cluster("b"), cluster("other"), listener("l")]);
      const raw = client.open(ads("delta"));
      const stream = delta(raw);
      const told = () =>
        server.nodeConfig("n1")?.resources.map(({ name, state, version, acknowledged }) => {
          return [name, state, version === acknowledged];
        });
      stream.send({ node: { id: "n1" }, typeUrl, resourceNamesSubscribe: ["a", "b", "gone"] });
      const first = await stream.next();
      assert.deepEqual(told(), [
        ["a", "sent", false],
        ["b", "sent", false],
        ["gone", "missing", true],
      ]);
      stream.send({ typeUrl, responseNonce: first.nonce });
      await becomes(server, "synced");
      raw.pause();
      server.config.update({ upsert: [cluster("a", "new")] });
      await waitFor("it to be sent", () => server.stats().types[0]?.responses === 2);
      server.config.update({ upsert: [cluster("b", "new")] });
      assert.deepEqual(told(), [
        ["a", "sent", false],
        ["b", "not-sent", false],
        ["gone", "missing", true],
      ]);
      raw.resume();
      const second = await stream.next();
      stream.send({ typeUrl, responseNonce: second.nonce, errorDetail: { code: 3, message: "no" } });
      await answerDelta(stream);
      await waitFor("both answers", () => told()?.[1]?.[1] === "synced");
      assert.deepEqual(told(), [
        ["a", "rejected", false],
        ["b", "synced", true],
        ["gone", "missing", true],
      ]);
      const [a] = server.nodeConfig("n1")?.resources ?? [];
      assert.equal(a?.rejected, a?.version);
      assert.equal(a?.acknowledged, createResource(cluster("a")).version);
      server.config.remove({ type: "cluster", name: "b" });
      assert.deepEqual(told()?.[1], ["b", "not-sent", false]);
      assert.deepEqual(server.nodeConfig("n1", { type: "lds" })?.resources, []);
      assert.equal(server.nodeConfig("n1", { type: "cds" })?.resources.length, 3);
      assert.equal(server.nodeConfig("n2"), undefined);
    }));

  for (const variant of ["sotw", "delta"] as const) {
    it(`the server's report does not say that a client has a resource that it has only just asked for, ${variant}`, () =>
      withMemoryServer({}, async ({ server, client }) => {
        server.config.set([cluster("a"), cluster("b"), cluster("c")]);
        const call = client.open(ads(variant));
        const [full, changes] = [sotw(call), delta(call)];
        const isFull = variant === "sotw";
        const ask = (names: readonly string[], added: readonly string[], more: object) =>
          isFull
            ? full.send({ typeUrl, resourceNames: [...names], ...more })
            : changes.send({ typeUrl, resourceNamesSubscribe: [...added], ...more });
        const next = async () => ({ responseNonce: (await (isFull ? full.next() : changes.next())).nonce });
        const told = () =>
          server.nodeConfig("n1")?.resources.map(({ name, state, acknowledged }) => {
            return [name, state, acknowledged !== undefined];
          });
        const behind = () => server.node("n1")?.streams[0]?.types[0]?.behind;
        ask(["a"], ["a"], { node: { id: "n1" } });
        ask(["a"], [], await next());
        await becomes(server, "synced");
        ask(["a", "b"], ["b"], isFull ? { responseNonce: "1" } : {});
        const second = await next();
        assert.deepEqual(
          [told(), behind()],
          [
            [
              ["a", "synced", true],
              ["b", "sent", false],
            ],
            1,
          ],
        );
        ask(["a", "b"], [], { ...second, errorDetail: { code: 3, message: "no" } });
        await becomes(server, "rejected");
        assert.deepEqual(server.nodeStates(), { synced: 0, "held-back": 0, pending: 0, stale: 0, rejected: 1 });
        assert.deepEqual(
          [told(), behind()],
          [
            [
              ["a", "synced", true],
              ["b", "rejected", false],
            ],
            1,
          ],
        );
        ask(["a", "b", "c"], ["c"], second);
        ask(["a", "b", "c"], [], await next());
        await waitFor("the third", () => told()?.[2]?.[1] === "synced");
        server.config.update({ upsert: [cluster("b", "good")] });
        ask(["a", "b", "c"], [], await next());
        await becomes(server, "synced");
        assert.deepEqual(told(), [
          ["a", "synced", true],
          ["b", "synced", true],
          ["c", "synced", true],
        ]);
      }));
  }

  it("the server's report looks at as many resources of a node as it is asked to, however many streams have its id", () =>
    withMemoryServer({}, async ({ server, client }) => {
      server.config.set(["a", "b", "c"].map((name) => cluster(name)));
      for (let index = 0; index < 3; index++) ask(sotw(client.open(ads("sotw"))));
      await waitFor("all streams", () => server.node("n1")?.streams.length === 3);
      const looked = (most?: number) => {
        const { resources, isCut } = server.nodeConfig("n1", { most }) ?? {};
        return [resources?.length, isCut];
      };
      assert.deepEqual(
        [looked(), looked(9), looked(8), looked(1)],
        [
          [9, false],
          [9, false],
          [8, true],
          [1, true],
        ],
      );
    }));

  it("the server's report shows no secret that a client quotes", () =>
    withServer({}, async ({ server, client, events }) => {
      server.config.set([cluster("a")]);
      const stream = sotw(client.open(ads("sotw")));
      ask(stream);
      await answer(stream, 'a: bad: password { inline_string: "S3CR3T" }');
      await becomes(server, "rejected");
      const told = server.node("n1")?.streams[0]?.types[0]?.rejected?.message;
      assert.equal(told, 'a: bad: password { inline_string: "[redacted]" }');
      await waitFor("its event", () => events.some(({ kind }) => kind === "rejected"));
      const event = events.find(({ kind }) => kind === "rejected");
      assert.ok(event?.kind === "rejected" && event.message === told);
    }));

  it("the server's report says once that a client has its whole target", () =>
    withServer({}, async ({ server, client, events }) => {
      server.config.set([cluster("a"), listener("l")]);
      const stream = sotw(client.open(ads("sotw")));
      const inSync = () => events.filter(({ kind }) => kind === "synced").length;
      ask(stream);
      stream.send({ typeUrl: urlOf("listener") });
      for (let index = 0; index < 2; index++) {
        const { typeUrl, nonce, versionInfo } = await stream.next();
        assert.equal(inSync(), 0);
        stream.send({ typeUrl, responseNonce: nonce, versionInfo });
      }
      await waitFor("in sync", () => inSync() === 1);
      // A change that does not concern it makes no difference.
      server.config.update({ upsert: [loadAssignment("x", 1)] });
      await sleep(20);
      assert.equal(inSync(), 1);
      server.config.update({ upsert: [cluster("a", "new")] });
      await answer(stream);
      await waitFor("in sync again", () => inSync() === 2);
    }));

  it("the server's report looks at a thousand streams with ten thousand resources in a moment", () =>
    withMemoryServer({}, async ({ server, client }) => {
      const names = Array.from({ length: 10_000 }, (_, index) => `c${index}`);
      server.config.set(names.map((name) => cluster(name)));
      for (let index = 0; index < 1_000; index++) ask(sotw(client.open(ads("sotw"))), `n${index}`);
      await waitFor("all nodes", () => server.nodes().length === 1_000 && server.stats().types[0]?.responses === 1_000);
      server.config.update({ upsert: [cluster("c1", "new")] });
      // The best of several: a busy machine is slow, but a walk over the resources of a thousand streams would take
      // seconds each time.
      let took = Number.POSITIVE_INFINITY;
      for (let times = 0; times < 5 && took > 1_000; times++) {
        const started = performance.now();
        const nodes = server.nodes();
        took = Math.min(took, performance.now() - started);
        assert.ok(nodes.every(({ streams }) => streams[0]?.types[0]?.behind === 10_000));
      }
      assert.ok(took <= 1_000, `${took} ms`);
    }));
});
