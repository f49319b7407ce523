import { createHash } from "node:crypto";
import { join } from "node:path";
import { type Finding, type Registry, type ResourceType, resourceTypes } from "@xdskit/api";
import type { ClientOptions, ValidateLevel } from "@xdskit/client";
import { createServer, type LayerName, ordersItself, type ServerOptions, type XdsServer } from "@xdskit/server";
import { openCacheFolder } from "./cache/cache-folder.js";
import { createGroupRelay, type GroupRelay } from "./groups/group-relay.js";
import { canAsk, type ServerSettingsInFull, type WatchedCollection } from "./groups/upstream/upstream-types.js";
import type { NackPolicy } from "./groups/verdict.js";

/** How one group of nodes gets an origin's resources. */
export interface RelayedGroup {
  readonly name: string;
  /** The part of the server's options that says what the group's nodes are served. */
  readonly layer: LayerName;
  /** The relay's node for this group: it decides what the origin gives the group. */
  readonly node: ClientOptions["node"];
  readonly collections: readonly WatchedCollection[];
  /** Ask for every named resource before a client does. */
  readonly prefetch: boolean;
}

/** What a relay asks of its origin, for which groups, and how it serves that. */
export interface RelayOptions {
  /** Without `onDemand`. */
  readonly server: ServerOptions;
  readonly groups: readonly RelayedGroup[];
  /** The origin's servers: at least one, all of one kind. */
  readonly servers: readonly ServerSettingsInFull[];
  /** Further options of each group's client; for tests. */
  readonly client?: Partial<ClientOptions> | undefined;
  readonly registry?: Registry | undefined;
  /** The folder of the cache; it has a folder for each group. Undefined: no cache. */
  readonly cache?: string | undefined;
  readonly nack: NackPolicy;
  readonly ackWaitMs: number;
  /**
   * How long a change may wait for others that the origin should have sent before it. 0: not at all. Default 15,000.
   */
  readonly holdMs?: number | undefined;
  /**
   * How long an origin that answers must say nothing about what is asked for as a whole before that counts as empty.
   * Default 15,000.
   */
  readonly silenceMs?: number | undefined;
  /** How long a name stays subscribed after its last client left. Default 1,000. */
  readonly lingerMs?: number | undefined;
  /** How strictly to check the origin's resources and the cache. Default `types`: clients judge them themselves. */
  readonly validate?: ValidateLevel | undefined;
  /** How many names all clients together may ask for, see `OnDemandOptions`. Default 100,000. */
  readonly names?: number | undefined;
  /** Told of resources that could not be served or read from the cache, and what happened to them. */
  report(group: string, findings: readonly Finding[]): void;
  cacheFailed(group: string, error: unknown): void;
  /** The origin is told that clients rejected something. */
  rejected(group: string, type: ResourceType, reason: string): void;
}

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
export type Relay = Awaited<ReturnType<typeof createRelay>>;

/** Makes a relay. Rejects with an XdskitError if an option is wrong or the cache cannot be used. */
export async function createRelay(options: RelayOptions) {
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
    /** Resolves once every group can be served. */
    async start(): Promise<void> {
      await Promise.all(groups.map(({ source }) => server.addSource(source)));
    },
    /** Closes the server too. */
    async close(closing?: { readonly timeoutMs?: number }): Promise<void> {
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
