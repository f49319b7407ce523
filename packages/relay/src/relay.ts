import { createHash } from "node:crypto";
import { join } from "node:path";
import { resourceTypes } from "@xdskit/api";
import { createServer, ordersItself, type XdsServer } from "@xdskit/server";
import { openCacheFolder } from "./cache/cache-folder.js";
import { createGroupRelay, type GroupRelay } from "./groups/group-relay.js";
import { canAsk, type ServerSettingsInFull } from "./groups/upstream/upstream-types.js";
import { checkRelayOptions } from "./option-table.js";
import type { RelayOptions } from "./relay-options.js";

/**
 * Long enough for a client that asks again, as Envoy does when a name moves between its clusters, and no longer: an
 * origin keeps removed resources for a while for those that ask for them. While the origin is away, its resources are
 * kept in any case.
 */
const usualLingerMs = 1_000;
/** As long as a change waits for a client's answer. */
const usualHoldMs = 15_000;
/** As long as a client waits for a resource before it counts as absent. */
const usualSilenceMs = 15_000;

/** A server with the resources of an origin. */
export interface Relay {
  readonly server: XdsServer;
  /** In the order of the options. */
  readonly groups: readonly GroupRelay[];
  /** Resolves once every group can be served. */
  start(): Promise<void>;
  /** Closes the server too, which waits `timeoutMs` milliseconds for its streams. */
  close(closing?: { readonly timeoutMs?: number }): Promise<void>;
}

/**
 * Makes a relay. Rejects with an XdskitError if an option is wrong or the cache cannot be used.
 *
 * @example
 * ```ts
 * import { createRelay } from "@xdskit/relay";
 *
 * const log = (...said: unknown[]) => console.log(...said);
 * const relay = await createRelay({
 *   server: {},
 *   servers: [{ kind: "grpc", address: "127.0.0.1:18000" }],
 *   groups: [{ name: "all", layer: "all", node: { id: "relay" }, collections: [], prefetch: true }],
 *   ...{ nack: "any", ackWaitMs: 15_000, report: log, rejected: log, cacheFailed: log },
 * });
 * await relay.start();
 * await relay.server.listen({ grpc: "127.0.0.1:18001" });
 * ```
 */
export async function createRelay(options: RelayOptions): Promise<Relay> {
  checkRelayOptions(options);
  const { servers, registry, cache, nack, ackWaitMs, validate = "types" } = options;
  // The relay orders the origin's resources for each client: the origin need not wait for them.
  const features = options.server.ordering === false ? [] : [ordersItself];
  const relays = new Map<string, GroupRelay>();
  const [first] = servers;
  const canAskFor: Parameters<typeof createGroupRelay>[0]["canAsk"] = (type) =>
    servers.some((one) => canAsk(one, type, server.types));
  const server: XdsServer = createServer({
    ...options.server,
    registry,
    onDemand: {
      types: (options.server.types ?? resourceTypes).all.map(({ typeUrl }) => typeUrl),
      supply: (request) => relays.get(request.group)?.supply(request),
      // The origin reports changes, and an answer takes one round trip. A name that does not exist is not watched for
      // ever after its clients are gone.
      timeoutMs: Number.POSITIVE_INFINITY,
      recheckMs: Number.POSITIVE_INFINITY,
      negativeMs: 60_000,
      concurrency: 1_000_000,
      queue: 1_000_000,
      names: options.names,
      lingerMs: options.lingerMs ?? usualLingerMs,
    },
  });
  for (const { name: group, layer, node, collections, prefetch } of options.groups) {
    const origin = fingerprint({ server: first && whereOf(first), node });
    relays.set(
      group,
      await createGroupRelay({
        group,
        layer,
        server,
        collections,
        prefetch,
        nack,
        ackWaitMs,
        // Without an order of its own, the relay passes on the origin's order.
        holdMs: options.server.ordering === false ? 0 : (options.holdMs ?? usualHoldMs),
        silenceMs: options.silenceMs ?? usualSilenceMs,
        origin,
        canAsk: canAskFor,
        client: { ...options.client, features, servers, node, registry, types: server.types, validate },
        cache:
          cache === undefined
            ? undefined
            : await openCacheFolder({
                directory: join(cache, folderOf(group)),
                types: server.types,
                registry,
                origin,
                validate,
              }),
        report: (findings) => options.report(group, findings),
        rejected: (type, reason) => options.rejected(group, type, reason),
        cacheFailed: (error) => options.cacheFailed(group, error),
      }),
    );
  }
  const groups = [...relays.values()];
  return {
    server,
    groups,
    async start() {
      await Promise.all(groups.map(({ source }) => server.addSource(source)));
    },
    async close(closing) {
      // The clients that leave now come back after a restart, perhaps while the origin is away.
      for (const group of groups) group.keep();
      await server.close(closing);
      await Promise.all(groups.map((group) => group.close()));
    },
  };
}

/** The group's folder in the cache; the group's name may hold any characters. */
function folderOf(group: string): string {
  return encodeURIComponent(group).replace(/^\./, "%2E");
}

/** The address of a server and how it is asked, without secrets. */
function whereOf(server: ServerSettingsInFull): object {
  switch (server.kind) {
    case "grpc":
      return { address: server.address, variant: server.variant, api: server.api };
    case "rest":
      return { url: server.url, api: server.api };
    case "files":
      return server.files;
  }
}

function fingerprint(value: unknown): string {
  return createHash("sha256").update(JSON.stringify(value)).digest("base64url").slice(0, 22);
}
