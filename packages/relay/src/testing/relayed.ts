import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Finding, type Resource, readResources, resourceTypes } from "@xdskit/api";
import { type ClientOptions, createClient, type XdsClient } from "@xdskit/client";
import { createServer, type ServerOptions, type XdsServer } from "@xdskit/server";
import { waitFor } from "../../../grpc-server/src/testing/wait-for.js";
import type { ServerSettingsInFull } from "../groups/upstream/upstream-types.js";
import { createRelay, type Relay } from "../relay.js";
import type { RelayOptions } from "../relay-options.js";

const url = (name: string): string => `type.googleapis.com/envoy.${name}`;
const ads = { ads: {}, resourceApiVersion: "V3" };

/** An EDS cluster as JSON. */
export const cluster = (name: string, connectTimeout = "1s") => ({
  "@type": url("config.cluster.v3.Cluster"),
  name,
  type: "EDS",
  connectTimeout,
  edsClusterConfig: { edsConfig: ads },
});

export const endpoints = (clusterName: string, port?: number) => ({
  "@type": url("config.endpoint.v3.ClusterLoadAssignment"),
  clusterName,
  ...(port === undefined
    ? {}
    : {
        endpoints: [
          {
            lbEndpoints: [{ endpoint: { address: { socketAddress: { address: "127.0.0.1", portValue: port } } } }],
          },
        ],
      }),
});

/** A route configuration that sends everything to one cluster. */
export const route = (name: string, clusterName: string) => ({
  "@type": url("config.route.v3.RouteConfiguration"),
  name,
  virtualHosts: [
    { name: "all", domains: ["*"], routes: [{ match: { prefix: "/" }, route: { cluster: clusterName } }] },
  ],
});

export const perishable = (name: string, ttl: string, resource: object) => ({
  "@type": url("service.discovery.v3.Resource"),
  name,
  ttl,
  resource,
});

/** Resources of JSON, checked. */
export function resourcesOf(...texts: readonly object[]): readonly Resource[] {
  const { resources, findings } = readResources({
    path: "a.json",
    bytes: Buffer.from(JSON.stringify({ resources: texts })),
  });
  const [first] = findings;
  if (first !== undefined) throw new Error(first.message);
  return resources.map(({ resource }) => resource);
}

/** The running parts of a relay test; all of them end with the test. */
export interface Stage {
  readonly directory: string;
  readonly findings: readonly Finding[];
  origin(options?: ServerOptions, address?: string): Promise<{ server: XdsServer; address: string; rest: string }>;
  /** Listening, once what is served first is there. */
  relay(
    server: ServerSettingsInFull,
    options?: Partial<RelayOptions>,
  ): Promise<{ relay: Relay; address: string; rest: string }>;
  client(address: string, options?: Partial<ClientOptions>): XdsClient;
}

/** Names and contents of a type, as a client sees them: `a=1s`. */
export interface Seen {
  readonly names: () => string;
  readonly versions: () => ReadonlyMap<string, string>;
}

export const quick: Partial<ClientOptions> = { backoff: { firstMs: 50, factor: 1.2, maxMs: 200, jitter: 0 } };

export async function withStage(run: (stage: Stage) => Promise<void>): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), "xdskit-relay-"));
  const ends: (() => Promise<unknown>)[] = [];
  const findings: Finding[] = [];
  try {
    await run({
      directory,
      findings,
      async origin(options = {}, at = "127.0.0.1:0") {
        const server = createServer(options);
        ends.push(() => server.close({ timeoutMs: 500 }));
        const { grpc: address, rest } = await server.listen({ grpc: at, rest: "127.0.0.1:0" });
        return { server, address, rest };
      },
      async relay(server, options = {}) {
        const wildcard = ["cluster", "listener"].map((name) => ({ type: resourceTypes.find(name)!, name: "*" }));
        const group = { name: "all", layer: "upstream", node: { id: "relay" }, collections: wildcard, prefetch: false };
        const relay = await createRelay({
          server: {},
          groups: [group],
          servers: [server],
          client: quick,
          nack: "all",
          ackWaitMs: 2_000,
          report: (_, found) => findings.push(...found),
          rejected: () => {},
          cacheFailed: (_, error) => {
            throw error;
          },
          ...options,
        });
        ends.push(() => relay.close({ timeoutMs: 500 }));
        await relay.start();
        const { grpc: address, rest } = await relay.server.listen({ grpc: "127.0.0.1:0", rest: "127.0.0.1:0" });
        return { relay, address, rest };
      },
      client(address, options) {
        const client = createClient({ servers: [address], node: { id: "edge" }, ...quick, ...options });
        ends.push(() => client.close());
        return client;
      },
    });
  } finally {
    for (const end of ends.reverse()) await end();
    await rm(directory, { recursive: true, force: true });
  }
}

/** Watches all of a type, or a collection. */
export function see(client: XdsClient, type: string, name = "*"): Seen {
  let resources: ReadonlyMap<string, { readonly message: object; readonly version: string }> = new Map();
  client.watchCollection(type, name, {
    onChanged: (collection) => {
      resources = collection.resources;
    },
  });
  return {
    names: () => [...resources.keys()].sort().join(),
    versions: () => new Map(Array.from(resources, ([name, { version }]) => [name, version])),
  };
}

/** The cluster of what `route` makes. */
export function clusterOf(message: {
  virtualHosts: { routes: { action: { value: { clusterSpecifier: { value: string } } } }[] }[];
}): string {
  const [first] = message.virtualHosts.flatMap(({ routes }) => routes);
  return first?.action.value.clusterSpecifier.value ?? "";
}

/**
 * Watches all clusters, and these routes; `broken` lists each moment at which a route named a cluster that the client
 * did not have.
 */
export function seeRoutes(client: XdsClient, names: readonly string[]) {
  const targets = new Map<string, string>();
  const broken: string[] = [];
  const clusters = see(client, "cluster");
  const check = () => {
    const there = clusters.names().split(",");
    for (const [name, target] of targets) if (!there.includes(target)) broken.push(`${name} → ${target}`);
  };
  client.watchCollection("cluster", "*", { onChanged: () => queueMicrotask(check) });
  for (const name of names) {
    client.watch("route", name, {
      onChanged({ message }) {
        targets.set(name, clusterOf(message as never));
        check();
      },
    });
  }
  return { broken, clusters: clusters.names, targets: () => names.map((name) => targets.get(name)).join() };
}

/** Watches one name: `absent`, or what `show` makes of its message. */
export function seeOne<T>(client: XdsClient, type: string, name: string, show: (message: never) => T) {
  let seen: T | "absent" | undefined;
  client.watch(type, name, {
    onChanged: ({ message }) => {
      seen = show(message as never);
    },
    onError: ({ code }) => {
      if (code === "XDSKIT_RESOURCE_ABSENT") seen = "absent";
    },
  });
  return () => seen;
}

/** Waits until a function returns the expected value. */
export async function becomes<T>(read: () => T, expected: T): Promise<void> {
  const text = JSON.stringify(expected);
  await waitFor(text, () => JSON.stringify(read()) === text).catch(() => assert.equal(JSON.stringify(read()), text));
}
