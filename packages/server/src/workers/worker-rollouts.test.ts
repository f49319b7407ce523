import assert from "node:assert/strict";
import { test } from "node:test";
import { grpcStreams } from "../testing/grpc-streams.js";
import { type Judgement, type JudgingClient, judgingClient } from "../testing/judging-client.js";
import { type Running, withServer } from "../testing/running-server.js";
import { cluster } from "../testing/test-resources.js";
import { waitFor, within } from "../testing/wait-for.js";
import { pools } from "./worker-pool.js";

const judge = (contents: ReadonlyMap<string, string>): Judgement =>
  [...contents.values()].includes("bad") ? "reject" : "accept";

/** Clients of all clusters, each on a connection of its own, some in each worker. */
async function connectToAll({ server, address }: Running, options: { variant?: "sotw" | "delta" } = {}) {
  const streams = grpcStreams(address);
  const clients: JudgingClient[] = [];
  const connect = (id: string) => {
    const client = judgingClient(streams.transport, address, { id, judge, ...options });
    clients.push(client);
    return client;
  };
  while (server.stats().workers.some((worker) => worker.streams < 2)) {
    assert.ok(clients.length < 500, "one worker takes all connections");
    const client = connect(`node-${clients.length}`);
    await waitFor("its first answer", () => client.held.size > 0);
  }
  const use = (content: string, who: readonly JudgingClient[] = clients) =>
    waitFor(`${content} at ${who.map(({ id }) => id).join(" ")}`, () =>
      who.every(({ held }) => held.get("a") === content),
    );
  const settled = () =>
    waitFor(
      "all to be synced",
      () => server.nodes().filter(({ state }) => state === "synced").length === clients.length,
    );
  await settled();
  return { clients, connect, use, settled, close: streams.close };
}

for (const variant of ["sotw", "delta"] as const) {
  test(`a rollout counts and reaches the nodes of all workers, ${variant}`, async () => {
    const rollout = { steps: [{ count: 1 }, { percent: 50 }], soakMs: 0 };
    await withServer({ workers: 2, rollout }, async (running) => {
      const { server, events } = running;
      server.config.set([cluster("a", "1"), cluster("other", "1")], { rollout: "off" });
      const { clients, connect, use, settled, close } = await connectToAll(running, { variant });
      server.config.update({ upsert: [cluster("a", "bad")] });
      await waitFor("a halt", () => server.rollouts()[0]?.state === "halted");
      const [halted] = server.rollouts();
      assert.equal(halted?.rejections.length, 1);
      assert.deepEqual([halted?.nodes.reached, halted?.nodes.held], [1, clients.length - 1]);
      assert.equal(
        clients.reduce((sum, { rejections }) => sum + rejections, 0),
        1,
      );
      // What else changes reaches everybody; who comes belongs by the same rule.
      server.config.update({ upsert: [cluster("more", "1")] }, { rollout: "off" });
      await waitFor(
        "another change at all that hold it",
        () => clients.filter(({ held }) => held.has("more")).length >= clients.length - 1,
      );
      const late = connect("late");
      await waitFor("what was before at who comes", () => late.held.get("a") === "1");
      server.config.update({ upsert: [cluster("a", "2")] });
      await use("2");
      await settled();
      await waitFor("the end", () => server.rollouts()[0]?.state === "completed");
      const outcomes = events.flatMap((event) => (event.kind === "rollout" ? [event.outcome] : []));
      assert.deepEqual([outcomes[0], outcomes[1], outcomes.at(-1)], ["started", "halted", "completed"]);
      close();
    });
  });
}

test("what a client rejected in one worker is kept from those that come to another", async () => {
  await withServer({ workers: 2, onReject: "lastGood" }, async (running) => {
    const { server } = running;
    server.config.set([cluster("a", "1"), cluster("other", "1")]);
    const { clients, connect, use, close } = await connectToAll(running);
    server.config.update({ upsert: [cluster("a", "bad")] });
    await waitFor("a quarantine", () => server.quarantines().length === 1);
    await use("1");
    for (let index = 0; index < 8; index += 1) {
      const late = connect(`late-${index}`);
      await waitFor("what was acknowledged last", () => late.held.get("a") === "1");
      assert.equal(late.rejections, 0);
    }
    assert.ok(clients.length > 8);
    server.config.update({ upsert: [cluster("a", "2")] });
    await use("2");
    await waitFor("the end of the quarantine", () => server.quarantines().length === 0);
    close();
  });
});

test("who waits for a change hears of a rejection in any worker, and of nodes that leave with theirs", async () => {
  await withServer({ workers: 2 }, async (running) => {
    const { server } = running;
    server.config.set([cluster("a", "1")]);
    const { clients, close } = await connectToAll(running);
    const refused = await within("the answers", server.config.update({ upsert: [cluster("a", "bad")] }).done());
    assert.deepEqual([refused.result, refused.rejected], ["rejected", clients.length]);
    // A worker that the machine gives no time is not waited for long.
    await waitFor("all to be known", () => server.nodeStates().rejected === clients.length);
    await waitFor("what it has to be known", () => (server.nodeConfig("node-0")?.resources.length ?? 0) > 0);
    const [resource] = server.nodeConfig("node-0")?.resources ?? [];
    assert.equal(resource?.state, "rejected");
    assert.notEqual(resource?.acknowledged, resource?.version);
    const mended = await within("the answers", server.config.update({ upsert: [cluster("a", "2")] }).done());
    assert.deepEqual([mended.result, mended.acknowledged], ["complete", clients.length]);
    await pools.get(server)?.kill(2);
    const rest = await within("those that are left", server.config.update({ upsert: [cluster("b")] }).done());
    assert.equal(rest.result, "complete");
    close();
  });
});
