import { authorityOf, type ResourceName, XdskitError } from "@xdskit/api";
import type { ReceivedResource } from "@xdskit/protocol";
import type { Watch } from "../contract/watch.js";
import type { ServerStatus } from "../contract/xds-client.js";
import type { ClientEvent } from "../events/client-event.js";
import type { ClientOptions, ServerSettings } from "../options/client-options.js";
import { fullSettings, keyOfServers } from "../options/server-settings.js";
import type { UpstreamContext } from "../upstreams/contract/upstream.js";
import type { CreateUpstream } from "../upstreams/create-upstream.js";
import type { Watcher } from "../watchers/delivery.js";
import { Origin, watchNothing } from "./origin.js";

/** Finds the servers for names, by authority (A47). */
export type Origins = ReturnType<typeof createOrigins>;

/** Makes the origins of a client: one for each different list of servers. Throws an XdskitError for wrong settings. */
export function createOrigins(
  options: ClientOptions,
  create: CreateUpstream,
  context: UpstreamContext,
  emit: (event: () => ClientEvent) => void,
) {
  const all = new Map<string, Origin>();
  // No function keeps the options: they hold the resources of an earlier run.
  const { acknowledge, fallback } = options;

  function originOf(servers: readonly ServerSettings[]): Origin {
    const settings = servers.map(fullSettings);
    const key = keyOfServers(settings);
    const known = all.get(key);
    if (known !== undefined) return known;
    const origin = new Origin({
      clock: context.clock,
      watcherMs: context.limits.watcherMs,
      emit,
      isEager: fallback === "when-away",
      servers: settings.length,
      make(place, sink) {
        const server = settings[place];
        if (server === undefined) throw new RangeError(`there is no server ${place}`);
        return create(server, context, sink);
      },
      acknowledge: acknowledge && (async (update, server) => acknowledge(update, server)),
    });
    all.set(key, origin);
    return origin;
  }

  const usual = options.servers === undefined || options.servers.length === 0 ? undefined : originOf(options.servers);
  const byAuthority = new Map<string, Origin | undefined>();
  for (const [authority, own] of Object.entries(options.authorities ?? {})) {
    // Names of an authority without its own servers go to the default servers (A47).
    const servers = own?.servers ?? [];
    byAuthority.set(authority, servers.length === 0 ? usual : originOf(servers));
  }
  const forAuthority = (authority: string | undefined) =>
    authority !== undefined && byAuthority.has(authority) ? byAuthority.get(authority) : usual;

  for (const { type, resources, version, isAll, isWhole } of options.held ?? []) {
    const shares = new Map<Origin, ReceivedResource[]>();
    if (usual !== undefined && resources.length === 0) shares.set(usual, []);
    for (const resource of resources) {
      const origin = forAuthority(authorityOf(resource.name));
      if (origin === undefined) continue;
      const share = shares.get(origin) ?? [];
      share.push(resource);
      shares.set(origin, share);
    }
    const found = context.types.find(type.typeUrl) ?? type;
    for (const [origin, share] of shares) {
      // A part of the set does not have its version, and an authority's server may number its own sets alike.
      const known = origin === usual && share.length === resources.length ? version : "";
      origin.hold(found, { resources: share, version: known, isAll, isWhole });
    }
  }

  return {
    /** Watches at the origin of an authority; the watcher gets an error if there is no server to ask. */
    of(
      authority: string | undefined,
      where: { readonly type: string; readonly resource: ResourceName },
      watcher: Pick<Watcher<never>, "onError">,
      watch: (origin: Origin) => Watch,
    ): Watch {
      const origin = forAuthority(authority);
      if (origin !== undefined) return watch(origin);
      const whose =
        authority === undefined ? "names without an authority" : `the authority ${JSON.stringify(authority)}`;
      return watchNothing(watcher, XdskitError.of("XDSKIT_UPSTREAM_NONE", `there are no servers for ${whose}`, where));
    },
    /** A watch that fails for another reason. */
    nobody: watchNothing,
    get isConnected(): boolean {
      for (const origin of all.values()) if (origin.isConnected) return true;
      return false;
    },
    status: (): readonly ServerStatus[] => Array.from(all.values(), (origin) => origin.status()).flat(),
    async close(): Promise<void> {
      await Promise.all(Array.from(all.values(), (origin) => origin.close()));
    },
  };
}
