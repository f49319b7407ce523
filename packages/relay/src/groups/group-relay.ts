import type { Finding, Resource } from "@xdskit/api";
import { type ClientOptions, createClient, type XdsClient } from "@xdskit/client";
import type { ResourceUpdate } from "@xdskit/protocol";
import type { Source, SupplyRequest, XdsServer } from "@xdskit/server";
import type { CacheFolder } from "../cache/cache-folder.js";
import { createCacheWriter } from "../cache/cache-writer.js";
import { type AcknowledgementOptions, createAcknowledgements } from "./acknowledgements.js";
import { findInCache } from "./cached-start.js";
import { contentOfCache } from "./content-of-cache.js";
import { GroupKnown, type GroupKnownOptions } from "./group-known.js";
import { createGroupLayer } from "./group-layer.js";
import { GroupRequests } from "./group-requests.js";
import { PendingChanges } from "./pending/pending-changes.js";
import { OriginWatches } from "./upstream/origin-watches.js";
import { createSilence } from "./upstream/silence.js";
import { UpstreamSource } from "./upstream/upstream-source.js";
import type { UpstreamStanding } from "./upstream/upstream-standing.js";

export interface GroupRelayOptions extends GroupKnownOptions, AcknowledgementOptions {
  readonly server: XdsServer;
  /** Without `acknowledge` and `retained`. */
  readonly client: ClientOptions;
  /**
   * How long an origin that answers must say nothing about a collection before it counts as empty. Also how long a
   * start waits for the other answers after the first. Milliseconds.
   */
  readonly silenceMs: number;
  readonly cache: CacheFolder | undefined;
  /** Identifies the origin in the cache. */
  readonly origin: string;
  /** The cache could not be written. */
  cacheFailed(error: unknown): void;
}

/** Relays an origin to one group of nodes: one client, one layer. */
export interface GroupRelay extends Pick<GroupRelayOptions, "group" | "layer"> {
  readonly client: XdsClient;
  /** Brings what the origin gives into the server. Add it once: it begins with that. */
  readonly source: Source;
  readonly standing: UpstreamStanding;
  /**
   * Resolves once the content of every type that is asked for as a whole is known. With a damaged cache that may be
   * long after the start.
   */
  readonly known: Promise<void>;
  readonly isKnown: boolean;
  /** What is wrong at present with the things that the origin or the cache gave. */
  readonly findings: readonly Finding[];
  supply(request: SupplyRequest): Promise<Resource | undefined> | undefined;
  /** Whether an older revision is served until the origin changes something. */
  rolledBack(isRolledBack: boolean): void;
  /** From now on everything that is asked for stays, for the cache, whoever leaves. */
  keep(): void;
  close(): Promise<void>;
}

/** Makes the relay of a group; it asks for nothing before its source starts. Each part is made of those before it. */
export async function createGroupRelay(options: GroupRelayOptions): Promise<GroupRelay> {
  const { server, group, layer, canAsk, cache, origin: from, cacheFailed: failed } = options;
  const found = await findInCache(options);
  const known = new GroupKnown(options, found);
  const { awaited, findings, followed, report, retained, standing } = known;
  const pending = new PendingChanges(known);
  const { isWaiting } = pending;
  const acknowledge = createAcknowledgements(options, known, pending);
  const client = createClient({ ...options.client, retained: found.types, acknowledge });
  const origin = new OriginWatches(client, standing.isConnectedFor, retained.touch);
  const about = { client, origin: from, isAwaited: awaited.has, isWanted: origin.isWanted, isWaiting };
  const writer = cache && createCacheWriter({ cache, retained, ...about, written: findings.cached, failed });
  const silence = createSilence(client, awaited, options.silenceMs, retained.touch);
  const upstream = new UpstreamSource({ layer, report });
  const content = createGroupLayer({ source: upstream, pending, known });
  const requests = new GroupRequests({ known, origin, content, pending });
  followed.start((reference) => requests.follow(reference));
  client.on((event) => {
    if (known.event(event, client)) pending.connected();
    if (event.kind === "connected") origin.connected(event.type);
    // Only the cache needs it, and drops from it what nobody asks for.
    if (event.kind === "updated" && writer !== undefined) retained.take(event.update, isWaiting);
    if (event.kind === "updated") lapse(event.update, pending);
    silence.event(event);
    writer?.event(event);
  });
  // Resources that were asked for by name are served by the end of the turn.
  const stopListening = server.on(
    () => pending.lookLater(),
    (kind) => kind === "on-demand",
  );

  return {
    group,
    layer,
    client,
    source: {
      name: `upstream of ${group}`,
      start: (sink) => upstream.start(sink, () => begin(options, known, upstream, requests), awaited.known),
      // The origin cannot be asked. A client may come from another server that follows it, and heard of a change first.
      async catchUp() {},
      close: async () => upstream.close(),
    },
    standing,
    known: awaited.known,
    get isKnown(): boolean {
      return awaited.isEmpty;
    },
    get findings(): readonly Finding[] {
      return findings.all;
    },
    supply: ({ type, lease }) => (canAsk(type) ? requests.supply(lease) : undefined),
    rolledBack(isRolledBack) {
      pending.isRolledBack = isRolledBack;
    },
    keep: () => origin.keep(),
    async close() {
      known.close();
      silence.close();
      stopListening();
      // Before the client closes, which knows the versions, and while it is known what waits.
      await writer?.close();
      pending.close();
      origin.close();
      followed.close();
      await client.close();
    },
  };
}

/** Resolves once the first answers, from the origin or the cache, are there. */
async function begin(
  { collections, canAsk, silenceMs }: GroupRelayOptions,
  known: GroupKnown,
  upstream: UpstreamSource,
  requests: GroupRequests,
): Promise<void> {
  const { asked, awaited, cached, retained, types, report } = known;
  const { damaged, whole } = cached;
  awaited.begin(collections.filter(({ type }) => !whole.has(type) && (canAsk(type) || damaged.has(type))));
  const { isFollowed } = asked;
  if (cached.isServed) upstream.beginWith(contentOfCache({ retained, whole, types, collections, isFollowed }, report));
  await requests.begin(collections, silenceMs);
  known.started();
}

/** Lets resources go whose TTL is over, once their removals are taken. */
function lapse({ type, removed }: ResourceUpdate, pending: PendingChanges): void {
  const lapsed = removed.flatMap(({ name, reason }) => (reason === "ttl" ? [name] : []));
  if (lapsed.length > 0) setImmediate(() => pending.lapsed(type, lapsed));
}
