import { envoyRegistry, type Registry, type ResourceType, XdskitError } from "@xdskit/api";
import { version as ownVersion } from "@xdskit/api/disk";
import type { HandshakeFailed } from "@xdskit/grpc-server";
import {
  type CertificatesListener,
  type ClientStatusAsked,
  listenError,
  type NodeRevision,
  type WrittenLayers,
  type XdsServer,
} from "@xdskit/server";
import { formatAddress, isLoopback, type ListenAddress, parseListenAddress } from "@xdskit/server/address";
import { Access } from "./access/access.js";
import { Activity } from "./activity/activity.js";
import { type AdminServer, startAdminServer } from "./admin-server.js";
import type { ApiLayer, Trouble, WhereIs } from "./contract/admin-options.js";
import type { PeerAnswers } from "./contract/peers.js";
import type { AnySourceStatus } from "./contract/source-status.js";
import type { AdminApi } from "./create-admin-api.js";
import { createFieldLines } from "./fields/field-lines.js";
import { VersionRevisions } from "./fleet/version-revisions.js";
import type { AdminLogOptions, AdminOptions } from "./listener/admin-listener-options.js";
import type { AdminState } from "./listener/admin-state.js";
import { type AllSources, sourcesOfAll } from "./listener/all-sources.js";
import { checkAdminListener } from "./listener/option-table.js";
import { liftHere, ownRollouts, type QuarantineQuery } from "./listener/rollout-pages.js";
import { createLog, logAdminRefusals, logServer } from "./log/index.js";
import type { MetricsText } from "./metrics/scrape.js";
import { createTroubles } from "./troubles/server-troubles.js";
import { storeTroubles } from "./troubles/store-troubles.js";

/** The admin listener of a server. */
export interface Admin {
  /**
   * Listens on `HOST:PORT` (port 0 picks a free one), or on `unix:/PATH`, and resolves to the address in use. Rejects
   * with an XdskitError if it cannot, or if that would let in everybody on the network (XDSKIT_OPEN_LISTENER).
   */
  listen(address: string): Promise<string>;
  /** The answers to other servers of the store, which ask this one as `OtherServers.peers` asks them. */
  answers(): Promise<PeerAnswers>;
  /**
   * By id, the newest revision of each layer of some nodes, and whether they run it: `ServerOptions.nodeRevisions`, so
   * that client status (CSDS) tells it, too.
   */
  nodeRevisions(ids: readonly string[]): Promise<ReadonlyMap<string, readonly NodeRevision[]>>;
  /** Stops listening, and ends open requests. The server itself goes on. */
  close(): Promise<void>;
}

/**
 * Makes what `xdskit serve` has on its admin listener for a server of one's own: the page, the HTTP API below
 * `/api/v1`, `/metrics` for Prometheus, `/livez` and `/readyz`. It follows the server from now on; `listen` opens it.
 * Throws an XdskitError (XDSKIT_ADMIN_OPTION) if an option is wrong.
 *
 * @example
 * ```ts
 * import { createAdmin } from "@xdskit/admin";
 * import { createServer } from "@xdskit/server";
 *
 * const server = createServer();
 * const admin = createAdmin(server, { name: "prod-eu" });
 * console.log(await admin.listen("127.0.0.1:19000"));
 * ```
 */
export function createAdmin(server: XdsServer, options: AdminOptions = {}): Admin {
  checkAdminListener(server, options);
  return new AdminOfServer(server, options);
}

class AdminOfServer implements Admin {
  readonly #server: XdsServer;
  readonly #options: AdminOptions;
  readonly #registry: Registry;
  readonly #access: Access;
  readonly #version: string;
  readonly #since = Date.now();
  readonly #troubles: { now(): readonly Trouble[] };
  /** From the start on, and not from when somebody looks. */
  readonly #activity: Activity;
  readonly #versions: VersionRevisions;
  readonly #log: { end(): void; readonly refused: HandshakeFailed };
  #isClosed = false;
  /** From the call of `listen` on. */
  #listening: Promise<AdminServer> | undefined;
  #metrics: Promise<{ read(): Promise<MetricsText> }> | undefined;
  #api: Promise<AdminApi> | undefined;
  #ready: AdminApi | undefined;

  constructor(server: XdsServer, options: AdminOptions) {
    this.#server = server;
    this.#options = options;
    this.#registry = options.registry ?? envoyRegistry();
    this.#access = accessOf(options);
    this.#version = options.version ?? ownVersion;
    this.#troubles = createTroubles(server);
    this.#activity = new Activity(server);
    this.#versions = new VersionRevisions(server, options, () => this.#layers);
    this.#log = options.log === undefined ? noLog : logged(server, options.log, options.whereIs);
  }

  async listen(address: string): Promise<string> {
    const at = listenAddressOf(address);
    const { tls, onCertificates: listener = noListener, onRefused, insecure = false } = this.#options;
    if (!insecure) refuseOpen(at, { tls: tls !== undefined, roles: this.#access.isGuarded });
    if (this.#listening !== undefined || this.#isClosed)
      throw XdskitError.of("XDSKIT_ADMIN_OPTION", "admin.listen: it listens already, or was closed");
    if ("path" in at) this.#access.isUnix = true;
    const refused = [this.#log.refused, ...(onRefused === undefined ? [] : [onRefused])];
    this.#listening = startAdminServer(at, this.#state(), refused, tls && { files: tls, listener });
    try {
      return formatAddress((await this.#listening).address);
    } catch (cause) {
      this.#listening = undefined;
      throw cause instanceof XdskitError ? cause : listenError(address, cause as Error);
    }
  }

  #state(): AdminState {
    const { name, ports = () => ({}), audit, rollouts: shared, store, others } = this.#options;
    const server = this.#server;
    const rollouts = { server, shared, peers: () => others?.peers() ?? [] };
    return {
      name,
      ports,
      audit,
      rollouts,
      store,
      stats: server.stats,
      version: this.#version,
      access: this.#access,
      readiness: this.#readiness,
      sources: this.#sources,
      allSources: others && (() => this.#allSources()),
      api: () => this.#apiNow(),
      metrics: () => this.#allMetrics(),
    };
  }

  async answers(): Promise<PeerAnswers> {
    const { answers } = await this.#apiNow();
    const server = this.#server;
    return {
      ...answers,
      metrics: async () => (await this.#ownMetrics()).text,
      sources: async () => this.#sources(),
      leases: async (ids: readonly string[]) => this.#leases(ids),
      clientStatus: (asked: ClientStatusAsked) => server.clientStatusPage(asked),
      connections: async () => server.connections(),
      rollouts: async () => ownRollouts(server),
      "rollout-counts": async (asked) => this.#options.rollouts?.counts(asked) ?? [],
      "lift-quarantines": async (asked: QuarantineQuery) => liftHere(server, asked),
    };
  }

  async nodeRevisions(ids: readonly string[]): Promise<ReadonlyMap<string, readonly NodeRevision[]>> {
    return (await this.#apiNow()).nodeRevisions(ids);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#activity.close();
    this.#versions.close();
    this.#log.end();
    await (await this.#api)?.close();
    // One that cannot listen tells that to the one who called `listen`.
    const listening = await this.#listening?.catch(() => undefined);
    await listening?.close();
  }

  readonly #readiness = () => (this.#options.readiness ?? (() => (this.#isClosed ? "stopping" : "ready")))();

  readonly #sources = (): readonly AnySourceStatus[] => this.#options.sources?.() ?? [];

  readonly #troublesNow = (): readonly Trouble[] => [
    ...this.#troubles.now(),
    ...storeTroubles(this.#options.store, this.#sources, this.#since),
    ...(this.#options.troubles?.() ?? []),
  ];

  /** Those of the server come and go while it runs. */
  get #layers(): readonly ApiLayer[] {
    const { layers } = this.#options;
    return layers ?? this.#server.stats().configuration.layers.map(({ name }) => readLayer(name));
  }

  /** Loaded with the first request: few servers are written to. */
  #apiNow(): Promise<AdminApi> {
    this.#api ??= import("./create-admin-api.js").then(({ createAdminApi }) => {
      const { onRevision, whereIs, others } = this.#options;
      const [server, registry] = [this.#server, this.#registry];
      const layers = () => this.#layers;
      this.#ready = createAdminApi({
        server,
        registry,
        onRevision,
        whereIs,
        version: this.#version,
        activity: this.#activity,
        versions: this.#versions,
        get layers() {
          return layers();
        },
        whereField: createFieldLines({ registry, types: server.types }),
        troubles: this.#troublesNow,
        audit: this.#options.audit,
        callerOf: this.#access.callerOf,
        sources: others === undefined ? this.#sources : async () => (await this.#allSources()).sources,
        ...(others === undefined ? {} : { peers: () => others.peers(), replica: others.name }),
      });
      return this.#ready;
    });
    return this.#api;
  }

  /** Loaded at the first scrape: a server without scrapes does not need them, and every server starts sooner. */
  async #ownMetrics(): Promise<MetricsText> {
    const { name, store = {} } = this.#options;
    this.#metrics ??= import("./metrics/metrics.js").then(({ createMetrics }) =>
      createMetrics({
        name,
        version: this.#version,
        server: this.#server,
        readiness: this.#readiness,
        sources: this.#sources,
        store: store.numbers,
        troubles: this.#troubles.now,
        isStateWhole: store.trouble === undefined,
        api: () => this.#numbers(),
      }),
    );
    const { contentType, text } = await (await this.#metrics).read();
    return { contentType, text: text + (this.#options.metrics?.() ?? "") };
  }

  /** Of all processes of this machine: whoever scrapes gets any of them. Other machines are scraped by themselves. */
  async #allMetrics(): Promise<MetricsText> {
    const { joinMetrics } = this.#options;
    const own = await this.#ownMetrics();
    return joinMetrics === undefined ? own : { ...own, text: await joinMetrics(own.text) };
  }

  async #allSources(): Promise<AllSources> {
    const { others } = this.#options;
    const sources = this.#sources();
    return others === undefined || others.isAlone()
      ? { sources }
      : await sourcesOfAll({ name: others.name, sources }, others.peers());
  }

  #written(): ReadonlySet<WrittenLayers> {
    return new Set(this.#layers.flatMap(({ filled }) => (filled.by === "api" ? filled.written : [])));
  }

  #numbers() {
    const api = this.#ready?.stats() ?? { requests: new Map(), eventReaders: 0 };
    return { ...api, leases: [...this.#written()].reduce((sum, { leases }) => sum + leases.length, 0) };
  }

  /** How many milliseconds leases have left here. */
  #leases(ids: readonly string[]): Readonly<Record<string, number>> {
    const leases = [...this.#written()];
    return Object.fromEntries(
      ids.map((id) => [id, Math.max(0, ...leases.map((written) => written.lease(id)?.leftMs ?? 0))]),
    );
  }
}

const noLog = { end() {}, refused() {} } as const;
/** For a program that does not ask for news of its certificates. */
const noListener: CertificatesListener = { renewed() {}, refused() {}, fixed() {}, untimely() {} };

function accessOf({ access = {} }: AdminOptions): Access {
  if (access instanceof Access) return access;
  const made = new Access();
  made.use(access);
  return made;
}

function logged(server: XdsServer, options: AdminLogOptions, whereIs: WhereIs | undefined) {
  const { level = "info", format = "json", write = (line) => void process.stderr.write(line) } = options;
  const where =
    whereIs && ((group: string, { typeUrl }: ResourceType, key: string) => whereIs(group, { type: typeUrl, key }));
  const log = createLog({ err: write }, { level, format });
  return { end: logServer(server, log, { level, whereIs: where }), refused: logAdminRefusals(log) };
}

/** A layer that the program or its sources fill. */
function readLayer(layer: string): ApiLayer {
  const filled = { by: "source", kept: undefined } as const;
  return { name: layer, layer, place: null, durable: false, store: undefined, filled };
}

function listenAddressOf(address: string): ListenAddress {
  const at = typeof address === "string" ? parseListenAddress(address) : undefined;
  if (at !== undefined) return at;
  const given = typeof address === "string" ? JSON.stringify(address.slice(0, 200)) : `a ${typeof address}`;
  throw XdskitError.of("XDSKIT_ADDRESS_INVALID", `admin.listen: ${given} is not of the form HOST:PORT or unix:/PATH`);
}

/** Whoever reaches the listener could read and change everything. */
function refuseOpen(at: ListenAddress, has: { readonly tls: boolean; readonly roles: boolean }): void {
  if ("path" in at || isLoopback(at.host) || (has.tls && has.roles)) return;
  const lacks = [has.tls ? [] : "tls", has.roles ? [] : "access: { tokens, roles }"].flat().join(" and ");
  throw XdskitError.of(
    "XDSKIT_OPEN_LISTENER",
    `admin.listen: ${formatAddress(at)} is reachable beyond this machine; give createAdmin ${lacks}, or insecure: true`,
  );
}
