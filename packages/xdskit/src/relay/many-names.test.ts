import assert from "node:assert/strict";
import { test } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import {
  DeltaDiscoveryRequestSchema,
  DeltaDiscoveryResponseSchema,
} from "@xdskit/api/envoy/service/discovery/v3/discovery";
import { createMemoryTransport } from "@xdskit/server";
import { becomes, cluster, resourcesOf, withStage } from "../testing/relayed.js";

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
    const memory = await relayed.server.listenOn(transport, "here");
    let answered = 0;
    const ask = (names: readonly string[]) => {
      const stream = transport.open(memory, { variant: "delta", api: "v3", only: undefined, unary: false }, (bytes) => {
        answered += fromBinary(DeltaDiscoveryResponseSchema, bytes).removedResources.length;
      });
      const request = { node: { id: "edge" }, typeUrl, resourceNamesSubscribe: [...names] };
      stream.send(toBinary(DeltaDiscoveryRequestSchema, create(DeltaDiscoveryRequestSchema, request)));
      return stream;
    };
    ask(["one"]);
    await becomes(() => answered, 1);
    const heapBefore = heapUsed();
    const coming = process.cpuUsage();
    const stream = ask(Array.from({ length: count }, (_, index) => `service-${index}`));
    await becomes(() => answered, count + 1);
    const came = effortSince(coming);
    await new Promise((resolve) => setImmediate(resolve));
    const each = (heapUsed() - heapBefore) / count;
    // Below 1,000 in the relay alone; the origin's share is in it, and what is made once.
    assert.ok(each < 1_250, `${Math.round(each)} bytes a name`);
    const leaving = process.cpuUsage();
    stream.cancel();
    // As many as linger, and the one that is still asked for.
    await becomes(() => relayed.server.stats().onDemand?.absent, 10_001);
    const left = effortSince(leaving);
    assert.ok(left < 2 * came, `it took ${Math.round(came)} ms to come, and ${Math.round(left)} ms to leave`);
  }));
