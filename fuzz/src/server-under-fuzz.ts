import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { createResource } from "@xdskit/api";
import { ClusterSchema } from "@xdskit/api/envoy/config/cluster/v3/cluster";
import {
  DeltaDiscoveryRequestSchema,
  DeltaDiscoveryResponseSchema,
} from "@xdskit/api/envoy/service/discovery/v3/discovery";
import {
  createMemoryTransport,
  createServer,
  type MemoryTransport,
  type Method,
  type ServerEvent,
  type XdsServer,
} from "@xdskit/server";

/** A server that hostile clients come to, and one healthy client of it in memory. */
export interface ServerUnderFuzz {
  readonly server: XdsServer;
  readonly transport: MemoryTransport;
  /** Its address in memory. */
  readonly address: string;
  /** Asserts that the healthy client still gets changes, and that the server itself had no fault. */
  assertHealthy(): Promise<void>;
  /** Asserts that nothing is left of any other client. */
  assertNothingLeft(): Promise<void>;
  close(): Promise<void>;
}

/** A busy machine is slow, a fault never ends. */
const patienceMs = 30_000;
const typeUrl = "type.googleapis.com/envoy.config.cluster.v3.Cluster";
const aggregated: Method = { variant: "delta", api: "v3", only: undefined, unary: false };

export async function openServerUnderFuzz(): Promise<ServerUnderFuzz> {
  const limits = { namesPerRequest: 100, namesPerStream: 150, typesPerStream: 5, requestBytes: 1 << 20 };
  const server = createServer({ rest: { holdMs: 0 }, limits: { ...limits, requestBurst: 1e9 } });
  const faults: ServerEvent[] = [];
  server.on((event) => {
    if (event.kind === "fault") faults.push(event);
  });
  const transport = createMemoryTransport();
  const address = await server.listenOn(transport, "here");
  let content = 0;
  let got = "";
  const stream = transport.open(address, aggregated, (bytes) => {
    const { nonce, resources } = fromBinary(DeltaDiscoveryResponseSchema, bytes);
    for (const { resource } of resources) {
      const { name, altStatName } = fromBinary(ClusterSchema, resource?.value ?? new Uint8Array());
      if (name === "a") got = altStatName;
    }
    say({ responseNonce: nonce });
  });
  function say(fields: { responseNonce?: string; resourceNamesSubscribe?: string[] }): void {
    const message = create(DeltaDiscoveryRequestSchema, { typeUrl, node: { id: "healthy" }, ...fields });
    stream.send(toBinary(DeltaDiscoveryRequestSchema, message));
  }
  function change(): void {
    content += 1;
    const cluster = create(ClusterSchema, { name: "a", altStatName: `${content}` });
    server.config.set([createResource(cluster, { aliases: ["alias"] }), create(ClusterSchema, { name: "b" })]);
  }
  change();
  say({ resourceNamesSubscribe: ["*"] });

  return {
    server,
    transport,
    address,
    async assertHealthy() {
      change();
      await until("the healthy client to get a change", () => got === `${content}`);
      assert.deepEqual(faults, []);
    },
    async assertNothingLeft() {
      const left = () => {
        const { streams, polls, groups, nodes } = server.stats();
        const sum = (numbers: readonly number[]) => numbers.reduce((all, one) => all + one, 0);
        return {
          streams: sum(streams.map(({ open }) => open)),
          behind: sum(streams.map(({ behind }) => behind)),
          polls: sum(polls.map(({ parked }) => parked)),
          groups: groups.map(({ streams, polls }) => streams + polls),
          loads: sum(server.loadTotals().streams.map(({ open }) => open)),
          nodes,
        };
      };
      const healthyOnly = JSON.stringify({ streams: 1, behind: 0, polls: 0, groups: [1], loads: 0, nodes: 1 });
      await until(
        "all others to be gone",
        () => JSON.stringify(left()) === healthyOnly,
        () => JSON.stringify(left()),
      );
      // Metrics only have rows for things that the server knows, whatever clients ask for.
      const known = server.types.all.length;
      const { types, streams, fetches, polls, refused, pollsRefused } = server.stats();
      assert.ok(types.length <= 2 * (known + 1) && fetches.length <= 2 * known && polls.length <= 2 * known);
      assert.ok(streams.length <= 4 * (known + 1) && refused.length <= 17 && pollsRefused.length <= 20);
    },
    close: async () => {
      stream.cancel();
      await server.close({ timeoutMs: 500 });
    },
  };
}

/** Waits for a condition that must hold in the end. */
export async function until(what: string, holds: () => boolean, shown: () => string = () => ""): Promise<void> {
  const end = Date.now() + patienceMs;
  while (!holds()) {
    if (Date.now() > end) throw new Error(`waited ${patienceMs} ms in vain for: ${what} ${shown()}`);
    await sleep(1);
  }
}

/** A promise that must be kept in time. */
export async function within<T>(what: string, promise: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`waited ${patienceMs} ms in vain for: ${what}`)), patienceMs);
  });
  return await Promise.race([promise, late]).finally(() => clearTimeout(timer));
}
