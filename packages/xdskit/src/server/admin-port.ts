import type { AdminApi, PeerAnswers, Trouble, WhereIs } from "@xdskit/admin";
import { Activity } from "@xdskit/admin/activity";
import type { ClientStatusAsked, WrittenLayers } from "@xdskit/server";
import type { Access } from "../access/access.js";
import type { AuditLog } from "../access/audit-log.js";
import type { AdminState, ClientPorts, Readiness } from "../admin/admin-state.js";
import { type AllSources, sourcesOfAll } from "../admin/all-sources.js";
import { askAll } from "../admin/ask-all.js";
import { liftHere, ownRollouts, type QuarantineQuery } from "../admin/rollout-pages.js";
import type { Scrape } from "../admin/scrape.js";
import type { AnySourceStatus } from "../admin/source-status.js";
import { findingText } from "../output/failure.js";
import { version } from "../process/version.js";
import type { ProcessPlace } from "../workers/process-place.js";
import { metricsOfWorkers } from "../workers/worker-metrics.js";
import { createFieldLines } from "./field-places.js";
import type { Served } from "./served.js";
import type { WrongSettings } from "./settings-watch.js";
import { createTroubles, settingsTroubles } from "./troubles.js";

/** The parts of the admin port. */
export interface AdminPortOptions {
  /** What people call this server. */
  readonly name: string | undefined;
  readonly served: Served;
  readonly readiness: () => Readiness;
  readonly ports: () => ClientPorts;
  readonly sources: () => readonly AnySourceStatus[];
  readonly wrongSettings: () => WrongSettings | undefined;
  readonly access: Access;
  readonly audit: AuditLog | undefined;
  /** One of several processes. */
  readonly place: ProcessPlace | undefined;
}

/** What the admin port of a server shows, and what it says to other servers of the store. */
export class AdminPort {
  readonly #options: AdminPortOptions;
  readonly #since = Date.now();
  readonly #troubles: ReturnType<typeof createTroubles>;
  /** From the start on, and not from when somebody looks. */
  readonly #activity: Activity;
  #metrics: Promise<Scrape> | undefined;
  #api: Promise<AdminApi> | undefined;
  #ready: AdminApi | undefined;

  constructor(options: AdminPortOptions) {
    this.#options = options;
    this.#troubles = createTroubles(options.served.server);
    this.#activity = new Activity(options.served.server);
  }

  get state(): AdminState {
    const { name, served, readiness, ports, sources, access, audit } = this.#options;
    const { server, storeAway, storeNumbers, stateTrouble, peering } = served;
    const storeFailing = () => storeNumbers?.().failing;
    const rollouts = { server, shared: served.rollouts, peers: () => peering?.peers() ?? [] };
    const ofStore = { storeAway, storeFailing, stateTrouble };
    const shown = { name, readiness, ports, sources, access, audit, ...ofStore, rollouts, stats: server.stats };
    const allSources = peering?.isPossible === true ? () => this.#allSources() : undefined;
    return { ...shown, allSources, api: () => this.#apiNow(), metrics: () => this.#allMetrics() };
  }

  /** The questions that other servers of the store may ask. */
  async answers(): Promise<PeerAnswers> {
    const { answers } = await this.#apiNow();
    return {
      ...answers,
      metrics: async () => (await this.#ownMetrics()).text,
      sources: async () => this.#options.sources(),
      "folder-versions": async () => this.#options.served.folderVersions?.() ?? {},
      leases: async (ids: readonly string[]) => this.#leases(ids),
      clientStatus: (asked: ClientStatusAsked) => this.#options.served.server.clientStatusPage(asked),
      connections: async () => this.#options.served.server.connections(),
      rollouts: async () => ownRollouts(this.#options.served.server),
      "rollout-counts": async (asked) => this.#options.served.rollouts?.counts(asked) ?? [],
      "lift-quarantines": async (asked: QuarantineQuery) => liftHere(this.#options.served.server, asked),
    };
  }

  async close(): Promise<void> {
    this.#activity.close();
    await (await this.#api)?.close();
  }

  /** What is wrong with the server itself, with its settings file, and with what keeps its revisions. */
  readonly #troublesNow = (): readonly Trouble[] => [
    ...this.#troubles.now(),
    ...this.#ofStore(),
    ...settingsTroubles(this.#options.wrongSettings()),
  ];

  #ofStore(): readonly Trouble[] {
    const { storeAway, storeNumbers, stateTrouble } = this.#options.served;
    const away = storeAway?.();
    const failing = away === undefined && !this.#isStoreReported() ? storeNumbers?.().failing : undefined;
    const ofStore = [
      ...(stateTrouble === undefined ? [] : [{ finding: stateTrouble, since: this.#since }]),
      ...(away === undefined ? [] : [away]),
    ];
    const told = ofStore.map(({ finding, since }): Trouble => {
      return { kind: "store", severity: "error", message: finding.message, since };
    });
    const { finding, since } = failing ?? {};
    if (finding === undefined || since === undefined) return told;
    const title = "The store cannot be written";
    const written: Trouble = { kind: "store", severity: "error", title, message: findingText(finding), since };
    return [...told, written];
  }

  /** A source says so by itself while it cannot keep its revisions. */
  #isStoreReported(): boolean {
    return this.#options.sources().some(({ findings }) => findings.some(({ code }) => code === "XDSKIT_STORE"));
  }

  /** Loaded with the first request: few servers are written to. */
  #apiNow(): Promise<AdminApi> {
    this.#api ??= import("@xdskit/admin").then(({ createAdminApi }) => {
      const { served, sources, access } = this.#options;
      const { callerOf } = access;
      const { server, registry, layers, onRevision, peering } = served;
      const whereIs: WhereIs = (group, { type, key }) => {
        const found = server.types.byTypeUrl(type);
        return found && served.whereIs(group, { type: found.type, key });
      };
      const whereField = createFieldLines({ registry, types: server.types });
      const isOneOfSeveral = peering?.isPossible === true;
      this.#ready = createAdminApi({
        ...{
          server,
          version,
          registry,
          layers,
          onRevision,
          whereIs,
          whereField,
          troubles: this.#troublesNow,
          callerOf,
          activity: this.#activity,
        },
        sources: isOneOfSeveral ? async () => (await this.#allSources()).sources : sources,
        ...(isOneOfSeveral ? { peers: peering.peers, replica: peering.name } : {}),
      });
      return this.#ready;
    });
    return this.#api;
  }

  /** Loaded at the first scrape: a server without scrapes does not need them, and every server starts sooner. */
  async #ownMetrics(): Promise<{ readonly contentType: string; readonly text: string }> {
    const { name, served, readiness, sources } = this.#options;
    this.#metrics ??= import("../admin/metrics.js").then(({ createMetrics }) =>
      createMetrics({
        ...{ name, server: served.server, readiness, sources, store: served.storeNumbers },
        troubles: this.#troubles.now,
        isStateWhole: served.stateTrouble === undefined,
        api: () => this.#numbers(),
      }),
    );
    const { contentType, text } = await (await this.#metrics).read();
    return { contentType, text: text + (served.metrics?.() ?? "") };
  }

  /** Of all processes of this machine: whoever scrapes gets any of them. Other machines are scraped by themselves. */
  async #allMetrics(): Promise<{ readonly contentType: string; readonly text: string }> {
    const { place, served } = this.#options;
    const own = await this.#ownMetrics();
    if (place === undefined) return own;
    const { answers } = await askAll<string>(served.peering?.peers() ?? [], "metrics");
    const others = answers.map(({ replica, answer }) => ({
      worker: Number(/^worker (\d+)$/.exec(replica)?.[1]),
      text: answer,
    }));
    const told = [{ worker: place.slot, text: own.text }, ...others];
    return { ...own, text: metricsOfWorkers(told.toSorted((a, b) => a.worker - b.worker)) };
  }

  async #allSources(): Promise<AllSources> {
    const { served, sources } = this.#options;
    const { peering } = served;
    if (peering === undefined || peering.isAlone) return { sources: sources() };
    return await sourcesOfAll({ name: peering.name, sources: sources() }, peering.peers());
  }

  #written(): ReadonlySet<WrittenLayers> {
    return new Set(this.#options.served.layers.flatMap(({ filled }) => (filled.by === "api" ? filled.written : [])));
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
