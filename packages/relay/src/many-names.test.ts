import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import {
  DeltaDiscoveryRequestSchema,
  DeltaDiscoveryResponseSchema,
} from "@xdskit/api/envoy/service/discovery/v3/discovery";
import { createMemoryTransport } from "@xdskit/server";
import type { Relay } from "./relay.js";
import { becomes, cluster, endpoints, resourcesOf, seeOne, withStage } from "./testing/relayed.js";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;
const typeUrl = "type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment";
/** More than the names that linger, and about as many as hash tables of their size have room for. */
const count = 16_000;

const effortSince = (before: NodeJS.CpuUsage) => {
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
};
const heapUsed = () => {
  collect();
  return process.memoryUsage().heapUsed;
};

test("a client that asks for many names costs about a kilobyte a name, and can leave at less than what it cost to come", () =>
  withStage(async ({ origin, relay }) => {
    const { server, address } = await origin();
    server.config.set(resourcesOf(cluster("a")));
    const { relay: relayed } = await relay({ kind: "grpc", address });
    const transport = createMemoryTransport();
    const here = await relayed.server.listenOn(transport, "here");
    const there = await server.listenOn(transport, "there");
    let answered = 0;
    const ask = (names: readonly string[], whom = here) => {
      const stream = transport.open(whom, { variant: "delta", api: "v3", only: undefined, unary: false }, (bytes) => {
        answered += fromBinary(DeltaDiscoveryResponseSchema, bytes).removedResources.length;
      });
      const request = { node: { id: "edge" }, typeUrl, resourceNamesSubscribe: [...names] };
      stream.send(toBinary(DeltaDiscoveryRequestSchema, create(DeltaDiscoveryRequestSchema, request)));
      return stream;
    };
    ask(["one"]);
    await becomes(() => answered, 1);
    const names = Array.from({ length: count }, (_, index) => `service-${index}`);
    const heapBefore = heapUsed();
    // The origin is in this process, too: what one client costs it is no cost of the relay's.
    ask(names, there);
    await becomes(() => answered, count + 1);
    const heapOfOrigin = heapUsed();
    const coming = process.cpuUsage();
    const stream = ask(names);
    await becomes(() => answered, 2 * count + 1);
    const came = effortSince(coming);
    await new Promise((resolve) => setImmediate(resolve));
    const ofOrigin = (heapOfOrigin - heapBefore) / count;
    const each = (heapUsed() - heapOfOrigin) / count - ofOrigin;
    // About 990, but where tables of names double in size depends on the version of Node and on the machine.
    assert.ok(each < 1_200, `${Math.round(each)} bytes a name`);
    const leaving = process.cpuUsage();
    stream.cancel();
    // As many as linger, and the one that is still asked for.
    await becomes(() => relayed.server.stats().onDemand?.absent, 10_001);
    const left = effortSince(leaving);
    assert.ok(left < 2 * came, `it took ${Math.round(came)} ms to come, and ${Math.round(left)} ms to leave`);
  }));

/** The endpoints that a relay's client holds. */
const held = ({ groups }: Relay): WeakRef<object>[] =>
  groups
    .flatMap(({ client }) => client.status())
    .flatMap(({ types }) => types.filter(({ type }) => type.typeUrl === typeUrl))
    .flatMap(({ resources }) => [...resources.values()])
    .map((resource) => new WeakRef(resource));

for (const cached of [false, true]) {
  test(`a resource that clients asked for is forgotten when they leave: ${cached ? "with" : "without"} a cache`, () =>
    withStage(async ({ origin, relay, client, directory }) => {
      const { server, address } = await origin();
      server.config.set(resourcesOf(cluster("a"), endpoints("one", 1)));
      const cache = cached ? join(directory, "cache") : undefined;
      // What a run before left in the cache is forgotten, too, once it has changed.
      const first = await relay({ kind: "grpc", address }, { cache });
      await becomes(
        seeOne(client(first.address), "endpoint", "one", () => "there"),
        "there",
      );
      await first.relay.close({ timeoutMs: 0 });
      const { relay: relayed, address: at } = await relay({ kind: "grpc", address }, { cache, lingerMs: 1 });
      const came = held(relayed);
      assert.equal(came.length, cached ? 1 : 0);
      relayed.groups[0]?.client.on((event) => {
        if (event.kind === "updated" && event.update.type.typeUrl === typeUrl)
          for (const resource of event.update.upserted) came.push(new WeakRef(resource));
      });
      for (const port of [2, 3]) {
        server.config.update({ upsert: resourcesOf(endpoints("one", port)) });
        const edge = client(at);
        await becomes(
          seeOne(edge, "endpoint", "one", () => "there"),
          "there",
        );
        await edge.close();
        await becomes(() => relayed.server.stats().onDemand?.dropped, port - 1);
      }
      const left = () => {
        collect();
        return came.filter((each) => each.deref() !== undefined).length;
      };
      assert.ok(came.length >= 2);
      await becomes(left, 0);
    }));
}
