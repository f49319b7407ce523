import { authorityOf, type ResourceName, XdskitError } from "@xdskit/api";
import type { ReceivedResource } from "@xdskit/protocol";
import type { Watch } from "../contract/watch.js";
import type { ServerStatus } from "../contract/xds-client.js";
import type { ClientEvent } from "../events/client-event.js";
import type { ClientOptions, RetainedResources, ServerSettings } from "../options/client-options.js";
import { fullSettings, keyOfServers } from "../options/server-settings.js";
import type { UpstreamContext } from "../upstreams/contract/upstream.js";
import type { CreateUpstream } from "../upstreams/create-upstream.js";
import type { Watcher } from "../watchers/delivery.js";
import { Origin, watchNothing } from "./origin.js";

/** The origins of a client, one for each different list of servers. Finds the servers for names, by authority (A47). */
export class Origins {
  readonly #create: CreateUpstream;
  readonly #context: UpstreamContext;
  readonly #emit: (event: () => ClientEvent) => void;
  // Not all options: they hold the resources of an earlier run.
  readonly #acknowledge: ClientOptions["acknowledge"];
  readonly #isEager: boolean;
  /** By `keyOfServers`. */
  readonly #all = new Map<string, Origin>();
  /** For names without an authority; undefined: there are no servers for them. */
  readonly #usual: Origin | undefined;
  readonly #byAuthority = new Map<string, Origin | undefined>();

  /** Throws an XdskitError for wrong settings. */
  constructor(
    { acknowledge, fallback, servers: usual, authorities, retained }: ClientOptions,
    create: CreateUpstream,
    context: UpstreamContext,
    emit: (event: () => ClientEvent) => void,
  ) {
    this.#create = create;
    this.#context = context;
    this.#emit = emit;
    this.#acknowledge = acknowledge;
    this.#isEager = fallback === "when-away";
    this.#usual = usual === undefined || usual.length === 0 ? undefined : this.#originOf(usual);
    for (const [authority, own] of Object.entries(authorities ?? {})) {
      // Names of an authority without its own servers go to the default servers (A47).
      const servers = own?.servers ?? [];
      this.#byAuthority.set(authority, servers.length === 0 ? this.#usual : this.#originOf(servers));
    }
    for (const each of retained ?? []) this.#hold(each);
  }

  #originOf(servers: readonly ServerSettings[]): Origin {
    const settings = servers.map(fullSettings);
    const key = keyOfServers(settings);
    const known = this.#all.get(key);
    if (known !== undefined) return known;
    const context = this.#context;
    const acknowledge = this.#acknowledge;
    const origin = new Origin({
      clock: context.clock,
      watcherMs: context.limits.watcherMs,
      emit: this.#emit,
      isEager: this.#isEager,
      servers: settings.length,
      make: (position, sink) => {
        const server = settings[position];
        if (server === undefined) throw new RangeError(`there is no server ${position}`);
        return this.#create(server, context, sink);
      },
      acknowledge: acknowledge && (async (update, server) => acknowledge(update, server)),
    });
    this.#all.set(key, origin);
    return origin;
  }

  #forAuthority(authority: string | undefined): Origin | undefined {
    return authority !== undefined && this.#byAuthority.has(authority) ? this.#byAuthority.get(authority) : this.#usual;
  }

  /** Shares resources of an earlier run out among the origins that have their names. */
  #hold({ type, resources, version, isAll, isWhole }: RetainedResources): void {
    const shares = new Map<Origin, ReceivedResource[]>();
    if (this.#usual !== undefined && resources.length === 0) shares.set(this.#usual, []);
    for (const resource of resources) {
      const origin = this.#forAuthority(authorityOf(resource.name));
      if (origin === undefined) continue;
      const share = shares.get(origin) ?? [];
      share.push(resource);
      shares.set(origin, share);
    }
    const found = this.#context.types.find(type.typeUrl) ?? type;
    for (const [origin, share] of shares) {
      // A part of the set does not have its version, and an authority's server may number its own sets alike.
      const known = origin === this.#usual && share.length === resources.length ? version : "";
      origin.hold(found, { resources: share, version: known, isAll, isWhole });
    }
  }

  /** Watches at the origin of an authority; the watcher gets an error if there is no server to ask. */
  of(
    authority: string | undefined,
    where: { readonly type: string; readonly resource: ResourceName },
    watcher: Pick<Watcher<never>, "onError">,
    watch: (origin: Origin) => Watch,
  ): Watch {
    const origin = this.#forAuthority(authority);
    if (origin !== undefined) return watch(origin);
    const whose = authority === undefined ? "names without an authority" : `the authority ${JSON.stringify(authority)}`;
    return watchNothing(watcher, XdskitError.of("XDSKIT_UPSTREAM_NONE", `there are no servers for ${whose}`, where));
  }

  get isConnected(): boolean {
    for (const origin of this.#all.values()) if (origin.isConnected) return true;
    return false;
  }

  status(): readonly ServerStatus[] {
    return Array.from(this.#all.values(), (origin) => origin.status()).flat();
  }

  async close(): Promise<void> {
    await Promise.all(Array.from(this.#all.values(), (origin) => origin.close()));
  }
}
