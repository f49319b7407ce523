import assert from "node:assert/strict";
import { type ApiVersion, resourceTypes } from "@xdskit/api";
import type { ServerEvent } from "../contracts/events.js";
import type { ServerOptions } from "../contracts/server-options.js";
import type { Method } from "../contracts/transport.js";
import type { XdsServer } from "../contracts/xds-server.js";
import { createServer } from "../create-server.js";
import { createMemoryTransport, type MemoryTransport } from "../transports/memory/memory-transport.js";
import { grpcClient, memoryClient, type RawClient } from "./clients/raw-client.js";

/** A server under test, and a client of it. */
export interface Running {
  readonly server: XdsServer;
  readonly client: RawClient;
  /** Where it listens. */
  readonly address: string;
  /** All events so far. */
  readonly events: readonly ServerEvent[];
}

/**
 * Runs a test against a server that listens on gRPC. Afterwards no stream or call may be left, and no fault may have
 * happened.
 */
export async function withServer(options: ServerOptions, test: (running: Running) => Promise<void>): Promise<void> {
  const { server, events } = start(options);
  const { grpc: address } = await server.listen({ grpc: "127.0.0.1:0" });
  await run({ server, client: grpcClient(resourceTypes, address), address, events }, test);
}

/** The same in memory, for tests with many streams, or with exact control of a slow client. */
export async function withMemoryServer(
  options: ServerOptions,
  test: (running: Running & { readonly transport: MemoryTransport }) => Promise<void>,
): Promise<void> {
  const { server, events } = start(options);
  const transport = createMemoryTransport();
  const address = await server.listenOn(transport, "here");
  const client = memoryClient(transport, address);
  await run({ server, client, address, events }, (running) => test({ ...running, transport }));
}

function start(options: ServerOptions) {
  const server = createServer(options);
  const events: ServerEvent[] = [];
  server.on((event) => events.push(event));
  return { server, events };
}

async function run(running: Running, test: (running: Running) => Promise<void>): Promise<void> {
  const { server, client, events } = running;
  try {
    await test(running);
    assert.deepEqual(
      events.filter(({ kind }) => kind === "fault"),
      [],
    );
  } finally {
    client.close();
    await server.close({ timeoutMs: 500 });
  }
}

/** Open streams of a server, of all kinds. */
export function openStreams(server: XdsServer): number {
  return server.stats().streams.reduce((sum, { open }) => sum + open, 0);
}

/** The types that tests use. */
export const types = {
  cluster: resourceTypes.find("cluster")!,
  endpoint: resourceTypes.find("endpoint")!,
  listener: resourceTypes.find("listener")!,
  route: resourceTypes.find("route")!,
};

export type TypeName = keyof typeof types;

/** The type URL in one version of the API. */
export function urlOf(type: TypeName, api: ApiVersion = "v3"): string {
  return (api === "v2" ? types[type].v2TypeUrl : undefined) ?? types[type].typeUrl;
}

/** The aggregated method. */
export function ads(variant: Method["variant"], api: ApiVersion = "v3"): Method {
  return { variant, api, only: undefined, unary: false };
}

/** The method of one type. */
export function perType(variant: Method["variant"], type: TypeName, api: ApiVersion = "v3"): Method {
  return { variant, api, only: types[type], unary: false };
}
