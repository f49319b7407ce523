import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { grpcListener } from "@xdskit/api/builders";
import type { HistogramStats } from "../basics/histogram.js";
import type { XdsServer } from "../contracts/xds-server.js";
import { manualClock } from "../testing/basics/manual-clock.js";
import { waitFor } from "../testing/basics/wait-for.js";
import { type DeltaStream, delta } from "../testing/clients/xds-client.js";
import { ads, type TypeName, types, urlOf, withMemoryServer } from "../testing/running-server.js";
import { cluster, listener, loadAssignment, routeConfiguration } from "../testing/test-resources.js";
import { Latencies } from "./latencies.js";

const node = { id: "n1" };

/** The number of values, and their sum. */
function amount({ counts, sum }: HistogramStats): readonly [number, number] {
  return [counts.reduce((all, count) => all + count, 0), sum];
}

/** The same of all lags, by type and group. */
function lagsOf(server: XdsServer): Readonly<Record<string, readonly [number, number]>> {
  return Object.fromEntries(server.stats().lags.map(({ type, group, ms }) => [`${type} ${group}`, amount(ms)]));
}

async function acknowledge(server: XdsServer, stream: DeltaStream, type: TypeName): Promise<void> {
  const before = acks(server);
  const { nonce } = await stream.next();
  stream.send({ typeUrl: urlOf(type), responseNonce: nonce });
  await waitFor("the acknowledgement", () => acks(server) > before);
}

function acks(server: XdsServer): number {
  return server.stats().types.reduce((sum, { acknowledged }) => sum + acknowledged, 0);
}

describe("the time from the publication of a change to its ACK", () => {
  it("the time counts from the publication of a change, not from its sending", async () => {
    const clock = manualClock();
    await withMemoryServer({ clock }, async ({ server, client }) => {
      server.config.set([cluster("a"), cluster("b")]);
      const raw = client.open(ads("delta"));
      const stream = delta(raw);
      clock.advance(10_000);
      stream.send({ node, typeUrl: urlOf("cluster") });
      clock.advance(40);
      await acknowledge(server, stream, "cluster");
      assert.deepEqual(lagsOf(server), {}, "what a client asks for is no change");

      raw.pause();
      server.config.update({ upsert: [cluster("a", "1")] });
      clock.advance(2_000);
      server.config.update({ upsert: [cluster("a", "2")] });
      clock.advance(500);
      const lag = () => server.nodes()[0]?.streams[0]?.types[0]?.lag;
      const until = (date: Date | undefined) =>
        Math.round((date?.getTime() ?? Date.now()) - (lag()?.from.getTime() ?? 0));
      // From the first publication, and not from the second one. The server's clock stands still, and dates do not.
      const now = until(undefined);
      assert.ok(now >= 2_300 && now <= 4_000, `while it is not acknowledged, its lag grows: ${now}`);
      raw.resume();
      await acknowledge(server, stream, "cluster");
      assert.deepEqual(lagsOf(server)["cluster all"]?.[0], 1);
      if (server.stats().types[0]?.responses === 3) await acknowledge(server, stream, "cluster");
      const [count = 0, sum = 0] = lagsOf(server)["cluster all"] ?? [];
      assert.ok(count >= 1 && sum >= 2_500 && sum <= 3_000, `${count} ${sum}`);
      assert.ok(lag()?.to !== undefined);
    });
  });

  it("the time before its stream, or in which a rollout held the node back, does not count", async () => {
    const clock = manualClock();
    const rollout = { steps: [{ count: 1 }], soakMs: 60_000 } as const;
    await withMemoryServer({ clock, rollout }, async ({ server, client }) => {
      server.config.set([cluster("a")]);
      const streams = ["n1", "n2"].map((id) => {
        const stream = delta(client.open(ads("delta")));
        stream.send({ node: { id }, typeUrl: urlOf("cluster") });
        return stream;
      });
      for (const stream of streams) await acknowledge(server, stream, "cluster");
      server.config.update({ upsert: [cluster("a", "1")] });
      await waitFor("the first node", () => streams.some(({ count }) => count === 2));
      clock.advance(100);
      const first = streams.find(({ count }) => count === 2);
      const second = streams.find((stream) => stream !== first);
      if (first === undefined || second === undefined) throw new Error("both nodes got the change");
      await acknowledge(server, first, "cluster");
      clock.advance(60_000);
      await waitFor("the second node", () => second.count === 2);
      clock.advance(30);
      await acknowledge(server, second, "cluster");
      assert.deepEqual(lagsOf(server), { "cluster all": [2, 130] });
    });
  });

  it("the statistics have the time that each type waited for the others, make before break", async () => {
    const clock = manualClock();
    await withMemoryServer({ clock }, async ({ server, client }) => {
      server.config.set([cluster("a"), routeConfiguration("r", "a"), listener("l")]);
      const stream = delta(client.open(ads("delta")));
      stream.send({ node, typeUrl: urlOf("cluster") });
      await acknowledge(server, stream, "cluster");
      stream.send({ typeUrl: urlOf("route"), resourceNamesSubscribe: ["r"] });
      await acknowledge(server, stream, "route");

      server.config.update({
        upsert: [cluster("b"), routeConfiguration("r", "b")],
        remove: [{ type: "cluster", name: "a" }],
      });
      await waitFor("the new cluster", () => stream.count === 3);
      clock.advance(300);
      await acknowledge(server, stream, "cluster");
      await waitFor("the route", () => stream.count === 4);
      clock.advance(50);
      await acknowledge(server, stream, "route");
      await waitFor("the removal", () => stream.count === 5);
      clock.advance(7);
      await acknowledge(server, stream, "cluster");
      const waits = server.stats().stageWaits.map(({ type, ms }) => [type, ...amount(ms)]);
      assert.deepEqual(waits.sort(), [
        ["cluster", 1, 350],
        ["route", 1, 300],
      ]);
      assert.deepEqual(lagsOf(server), { "cluster all": [2, 300 + 357], "route all": [1, 350] });
    });
  });

  it("the time in which a change concerned only gRPC's clients does not count for Envoys", async () => {
    const clock = manualClock();
    await withMemoryServer({ clock }, async ({ server, client }) => {
      server.config.set([listener("edge")]);
      const [envoy, grpc] = ["envoy", "gRPC Go"].map((userAgentName) => {
        const stream = delta(client.open(ads("delta")));
        stream.send({ node: { id: userAgentName, userAgentName }, typeUrl: urlOf("listener") });
        return stream;
      });
      if (envoy === undefined || grpc === undefined) throw new Error("two streams");
      await acknowledge(server, envoy, "listener");
      await acknowledge(server, grpc, "listener");

      // The first such listener: until now, both were told the same.
      server.config.update({ upsert: [grpcListener({ name: "cart", routeConfigName: "r" })] });
      clock.advance(30);
      await acknowledge(server, grpc, "listener");
      clock.advance(3_600_000);
      server.config.update({ upsert: [listener("edge", "2")] });
      await waitFor("both", () => envoy.count === 2 && grpc.count === 3);
      clock.advance(5);
      await acknowledge(server, grpc, "listener");
      await acknowledge(server, envoy, "listener");
      assert.deepEqual(lagsOf(server), { "listener all": [3, 30 + 5 + 5] });
    });
  });

  it("the time in which a change concerned only a group with one more layer does not count for other groups", async () => {
    const clock = manualClock();
    const groups = [
      { name: "more", match: { cluster: "more" }, layers: ["default", "more"] },
      { name: "rest", match: { cluster: "rest" }, layers: ["default"] },
    ];
    await withMemoryServer({ clock, groups }, async ({ server, client }) => {
      server.config.set([cluster("a")]);
      const [more, rest] = ["more", "rest"].map((id) => {
        const stream = delta(client.open(ads("delta")));
        stream.send({ node: { id, cluster: id }, typeUrl: urlOf("cluster") });
        return stream;
      });
      if (more === undefined || rest === undefined) throw new Error("two streams");
      await acknowledge(server, more, "cluster");
      await acknowledge(server, rest, "cluster");

      // The first of this layer: until now, the groups shared what is in the other one.
      server.config.layer("more").set([cluster("b")]);
      clock.advance(30);
      await acknowledge(server, more, "cluster");
      clock.advance(3_600_000);
      server.config.update({ upsert: [cluster("a", "2")] });
      await waitFor("both", () => more.count === 3 && rest.count === 2);
      clock.advance(5);
      await acknowledge(server, more, "cluster");
      await acknowledge(server, rest, "cluster");
      assert.deepEqual(lagsOf(server), { "cluster more": [2, 30 + 5], "cluster rest": [1, 5] });
    });
  });

  it("the time is the same for streams that repeat another one's transition", async () => {
    const clock = manualClock();
    await withMemoryServer({ clock }, async ({ server, client }) => {
      server.config.set([cluster("a"), loadAssignment("a", 1)]);
      const streams = Array.from({ length: 5 }, (_, index) => {
        const stream = delta(client.open(ads("delta")));
        stream.send({ node: { id: `n${index}` }, typeUrl: urlOf("cluster") });
        return stream;
      });
      for (const stream of streams) await acknowledge(server, stream, "cluster");
      for (let round = 1; round <= 3; round++) {
        server.config.update({ upsert: [cluster("a", `${round}`)] });
        await waitFor("all", () => streams.every(({ count }) => count === round + 1));
        clock.advance(20);
        for (const stream of streams) await acknowledge(server, stream, "cluster");
      }
      assert.deepEqual(lagsOf(server), { "cluster all": [15, 300] });
    });
  });
});

describe("latencies", () => {
  it("latencies of a hundred groups are separate, and the others are put together", () => {
    const latencies = new Latencies();
    for (let group = 0; group < 150; group++) latencies.ofGroup(`g${group}`).record(types.cluster, 1);
    const { lags } = latencies;
    assert.equal(lags.length, 101);
    assert.deepEqual(amount(lags.find(({ group }) => group === "(other)")?.ms as HistogramStats), [50, 50]);
  });
});
