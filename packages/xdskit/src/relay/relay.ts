import { createHash } from "node:crypto";
import { join } from "node:path";
import { type Finding, type Registry, type ResourceType, resourceTypes } from "@xdskit/api";
import type { ClientOptions, ValidateLevel } from "@xdskit/client";
import { createServer, type LayerName, ordersItself, type ServerOptions, type XdsServer } from "@xdskit/server";
import { openCacheFolder } from "./cache-folder.js";
import { createGroupRelay, type GroupRelay, type WatchedCollection } from "./group-relay.js";
import { canAsk, type ServerSettingsInFull } from "./upstream-types.js";
import type { NackPolicy } from "./verdict.js";

/** How one group of nodes gets what an origin has. */
export interface RelayedGroup {
  readonly name: string;
  /** Of the server's options: what the group's nodes are served. */
  readonly layer: LayerName;
  /** Who the relay is to the origin, for this group: the origin decides by it what the group gets. */
  readonly node: ClientOptions["node"];
  readonly collections: readonly WatchedCollection[];
  /** Ask for everything that is named before a client does. */
  readonly prefetch: boolean;
}

export interface RelayOptions {
  /** Without `onDemand`. */
  readonly server: ServerOptions;
  readonly groups: readonly RelayedGroup[];
  /** Who is asked: at least one, all in the same way. */
  readonly servers: readonly ServerSettingsInFull[];
  /** Further options of each group's client; for tests. */
  readonly client?: Partial<ClientOptions> | undefined;
  readonly registry?: Registry | undefined;
  /** The folder of the cache; it has a folder for each group. Undefined: nothing is kept. */
  readonly cache?: string | undefined;
  readonly nack: NackPolicy;
  readonly ackWaitMs: number;
  /** How long a change waits at most for others that the origin should have sent before it. 0: none waits. Default 15,000. */
  readonly holdMs?: number | undefined;
  /** How long what a client asked for by name is kept after the last one left. Default 1,000. */
  readonly lingerMs?: number | undefined;
  /** How far what the origin sends, and what the cache has of it, is judged. Default `types`: its clients judge it themselves. */
  readonly validate?: ValidateLevel | undefined;
  /** How many names all clients together may ask for, see `OnDemandOptions`. Default 100,000. */
  readonly names?: number | undefined;
  /** What could not be served or read of the cache, and what became of it. */
  report(group: string, findings: readonly Finding[]): void;
  cacheFailed(group: string, error: unknown): void;
  /** The origin is told that clients rejected something. */
  rejected(group: string, type: ResourceType, reason: string): void;
}

/** A server of what an origin has. */
export interface Relay {
  readonly server: XdsServer;
  readonly groups: readonly GroupRelay[];
  /** Resolves once every group can be served. */
  start(): Promise<void>;
  /** Closes the server too. */
  close(options?: { readonly timeoutMs?: number }): Promise<void>;
}

/**
 * Long enough for a client that asks anew, as Envoy does when a name moves between its clusters, and no longer: an origin keeps what it removed for a while for those that ask for it.
 * What is held of an origin that is away is kept all the same.
 */
const usualLingerMs = 1_000;
/** As long as a change waits for a client's answer. */
const usualHoldMs = 15_000;

/** Makes a relay. Rejects with an XdskitError if an option is wrong or the cache cannot be used. */
export async function createRelay(options: RelayOptions): Promise<Relay> {
  const { servers, registry, cache, nack, ackWaitMs, validate = "types" } = options;
  // What the origin sends is ordered here for each client: nobody need wait for the relay.
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
      // The origin says when something changes, and an answer takes as long as the way to it. What does not exist is not watched for ever for clients that are gone.
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
        // Without an order of its own the relay says what the origin says, as it says it.
        holdMs: options.server.ordering === false ? 0 : (options.holdMs ?? usualHoldMs),
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
      await Promise.all(groups.map((group) => group.start()));
    },
    async close(closing) {
      await server.close(closing);
      await Promise.all(groups.map((group) => group.close()));
    },
  };
}

/** The group's folder in the cache: a name may be anything. */
function folderOf(group: string): string {
  return encodeURIComponent(group).replace(/^\./, "%2E");
}

/** Where a server is and how it is asked, without secrets. */
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
