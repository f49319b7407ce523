import assert from "node:assert/strict";
import { test } from "node:test";
import { createResource } from "@xdskit/api";
import { manualClock } from "../../../testing/basics/manual-clock.js";
import { waitFor } from "../../../testing/basics/wait-for.js";
import { delta } from "../../../testing/clients/xds-client.js";
import { parkedPolls } from "../../../testing/running-rest.js";
import { ads, types, urlOf, withMemoryServer } from "../../../testing/running-server.js";
import { cluster } from "../../../testing/test-resources.js";
import { createMemoryPollTransport } from "../../../transports/memory/memory-polls.js";

/** It reaches nobody for a long time. */
const rollout = { steps: [{ match: { id: "nobody" } }], timeoutMs: 1_000_000 };
const typeUrl = urlOf("cluster");

test("a resource that a node keeps during a rollout keeps its heartbeats, though the newest has no TTL", async () => {
  const clock = manualClock();
  await withMemoryServer({ clock, ttl: "always" }, async ({ server, client }) => {
    server.config.set([createResource(cluster("a"), { ttl: 4_000 })]);
    const stream = delta(client.open(ads("delta")));
    stream.send({ node: { id: "n", userAgentName: "envoy" }, typeUrl });
    const { nonce } = await stream.next();
    stream.send({ typeUrl, responseNonce: nonce });
    await waitFor("a client in sync", () => server.node("n")?.state === "synced");
    server.config.set([cluster("a", "for ever")], { rollout });
    for (let beat = 0; beat < 3; beat++) {
      clock.advance(4_000);
      const { resources } = await stream.next();
      assert.deepEqual([resources[0]?.name, resources[0]?.resource], ["a", undefined]);
    }
    assert.equal(server.rollouts()[0]?.promote(), true);
    assert.equal((await stream.next()).resources[0]?.ttl, undefined);
    clock.advance(20_000);
    assert.equal(clock.waiting, 0);
  });
});

test("resources supplied on demand are not held back", async () => {
  const supply = async ({ name }: { name: string }) => cluster(name, "supplied");
  await withMemoryServer({ onDemand: { types: ["cluster"], supply } }, async ({ server, client }) => {
    server.config.set([cluster("a", "1")]);
    const stream = delta(client.open(ads("delta")));
    stream.send({ node: { id: "n" }, typeUrl, resourceNamesSubscribe: ["a"] });
    await stream.next();
    server.config.set([cluster("a", "2")], { rollout });
    stream.send({ typeUrl, resourceNamesSubscribe: ["b"] });
    const { resources } = await stream.next();
    assert.deepEqual(
      resources.map(({ name }) => name),
      ["b"],
    );
    assert.deepEqual(server.rollouts()[0]?.resources, [{ type: "cluster", name: "a" }]);
    assert.equal(stream.count, 2);
  });
});

test("polls get the target of their node", async () => {
  await withMemoryServer({}, async ({ server, client }) => {
    const polls = createMemoryPollTransport();
    await server.pollOn(polls, "there");
    server.config.set([cluster("a", "1")]);
    const stream = delta(client.open(ads("delta")));
    stream.send({ node: { id: "n" }, typeUrl });
    await stream.next();
    server.config.set([cluster("a", "2")], { rollout: { steps: [{ match: { id: "canary" } }] } });
    const poller = polls.connect("there");
    const contentFor = async (id: string) => {
      const answer = await poller.poll(types.cluster, { node: { id }, versionInfo: "" }).answer;
      assert.equal(answer.kind, "response");
      const { resources } = JSON.parse(answer.kind === "response" ? Buffer.from(answer.body.bytes).toString() : "{}");
      return resources[0].altStatName ?? resources[0].alt_stat_name;
    };
    assert.equal(await contentFor("other"), "1");
    assert.equal(await contentFor("canary"), "2");
    await waitFor("no poll", () => parkedPolls(server) === 0);
    // The rollout does not wait for a poll, so no node that acknowledges belongs to the step.
    assert.equal(server.rollouts()[0]?.state, "waiting");
    assert.deepEqual(server.rollouts()[0]?.nodes, { reached: 0, pending: 0, rejected: 0, held: 1 });
  });
});
