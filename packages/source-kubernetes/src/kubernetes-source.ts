import { hostname } from "node:os";
import {
  type CallWithOptions,
  checkCall,
  type Finding,
  inTurns,
  maxFindings,
  type ReadResourcesOptions,
  systemClock,
  type TableOf,
  type Where,
} from "@xdskit/api";
import type { Part, Progress, Source, SourceSink } from "@xdskit/server";
import { connectionOption, type KubernetesConnection } from "./connection/connection.js";
import { EventWriter } from "./events/event-writer.js";
import { failureText, refusalOf, warningsOf } from "./findings.js";
import { type ConfigMap, readConfigMap } from "./objects/config-map.js";
import { type EndpointSlice, readEndpointSlice, serviceLabel } from "./objects/endpoint-slice.js";
import { readGrpcRoute } from "./objects/grpc-route.js";
import { readHttpRoute } from "./objects/http-route.js";
import { gatewayApi, type MeshRoute } from "./objects/mesh-route.js";
import { type ReferenceGrant, readReferenceGrant } from "./objects/reference-grant.js";
import { type KubernetesService, readService } from "./objects/service.js";
import { readTlsSecret, type TlsSecret, tlsSecretType } from "./objects/tls-secret.js";
import { ClusterTables } from "./resources/cluster-tables.js";
import { ClientRejections } from "./statuses/client-rejections.js";
import { type ObjectStatus, readStatus } from "./statuses/status-change.js";
import { StatusWriter } from "./statuses/status-writer.js";
import { Watches } from "./watching/watches.js";

/** The options of a source of Kubernetes. */
export interface KubernetesSourceOptions {
  /** `connectToKubernetes` makes it. */
  readonly connection: KubernetesConnection;
  /** The namespaces whose Services are served. Default: all. */
  readonly namespaces?: readonly string[] | undefined;
  /** The labels of the Services that are served, as kubectl writes them: `app=shop,tier!=test`. Default: all. */
  readonly selector?: string | undefined;
  /** The layer that it fills. Default: `kubernetes`. */
  readonly layer?: string | undefined;
  /** A change goes out at once, and what comes within this time after it together, in milliseconds. Default: 20. */
  readonly settleMs?: number | undefined;
  /**
   * The labels of the Secrets of the type `kubernetes.io/tls` that are served, as secrets (SDS) `NAMESPACE/NAME` and
   * `NAMESPACE/NAME/ca` (`ca.crt`); empty: all. Who gets secrets, `identities` of the server say. Default: none.
   */
  readonly tlsSecrets?: string | undefined;
  /**
   * The labels of the ConfigMaps whose keys are served as resource files; empty: all. They fill layers of their own
   * (`configMapLayer`). Default: none.
   */
  readonly configMaps?: string | undefined;
  /** How their files are read. Default: with Envoy's messages and types. */
  readonly read?: (() => ReadResourcesOptions) | undefined;
  /** Whether it starts without the ConfigMaps that have errors. Default: no, it waits until they have none. */
  readonly allowPartial?: boolean | undefined;
  /**
   * Whether GRPCRoutes and HTTPRoutes of the Gateway API are followed whose parents are Services, and their status is
   * written. Default: no.
   */
  readonly gatewayApi?: boolean | undefined;
  /** Whether it writes Events about objects that are not served as they say. Default: no. */
  readonly writesEvents?: boolean | undefined;
  /** A watch that says nothing for this long is replaced, in milliseconds. Default: 30,000. */
  readonly silenceMs?: number | undefined;
  /** Its status is another one now. */
  readonly onStatus?: ((status: KubernetesStatus) => void) | undefined;
}

/** How well a source knows the cluster. */
export interface KubernetesStatus {
  /** `pending`: not everything was read yet. `away`: what is served may be old. */
  readonly state: "pending" | "connected" | "away";
  /** What is served is what the cluster had then, or later; undefined: nothing is served yet. */
  readonly asOf: Date | undefined;
  /** When something of it changed last; undefined: not yet. */
  readonly lastApplied: Date | undefined;
  readonly services: number;
  /** What is not followed of objects, and that no Event can be written, at most a hundred. Errors are of ConfigMaps. */
  readonly findings: readonly Finding[];
  /** Why the server does not say now what is new; undefined: it does. */
  readonly failure: string | undefined;
  /** The last error, however old. */
  readonly lastError: { readonly at: Date; readonly message: string } | undefined;
}

/** A source, which also says how well it knows the cluster. */
export interface KubernetesSource extends Source {
  status(): KubernetesStatus;
  /** For `parts` of the server: the status of routes says what its clients reject. */
  readonly part: Part;
}

/** For `localityTypes` of the server: clients that say a zone, or a node as `sub_zone`, find near pods. */
export const kubernetesLocalityTypes = ["type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment"] as const;

/** The version of ReferenceGrants that every release of the Gateway API has had. */
const grantApi = "gateway.networking.k8s.io/v1beta1";

/** The layer of a source that is given none. */
export const kubernetesLayer = "kubernetes";

const usualSettleMs = 20;

const call = {
  call: "createKubernetesSource",
  code: "XDSKIT_KUBERNETES",
  example: "{ connection: await connectToKubernetes() }",
  needs: ["connection"],
  table: {
    connection: connectionOption,
    namespaces: { items: "string" },
    selector: "string",
    layer: "string",
    settleMs: "count",
    tlsSecrets: "string",
    configMaps: "string",
    read: "function",
    allowPartial: "boolean",
    gatewayApi: "boolean",
    writesEvents: "boolean",
    silenceMs: "count",
    onStatus: "function",
  } satisfies TableOf<KubernetesSourceOptions>,
} as const satisfies CallWithOptions;

/**
 * Makes a source of the Services of a Kubernetes cluster, for gRPC's clients: each port of each Service is a listener
 * for every name by which it may be called, a route configuration, a cluster and a load assignment.
 *
 * Its start resolves once all Services and EndpointSlices were read, however long the API server is away. Later it
 * serves what it knows while the server is away. Throws an XdskitError (XDSKIT_KUBERNETES) that names an option that is
 * wrong.
 */
export function createKubernetesSource(options: KubernetesSourceOptions): KubernetesSource {
  checkCall(call, options);
  return new WatchedCluster(options);
}

class WatchedCluster implements KubernetesSource {
  readonly name: string;
  readonly part: Part = (kernel) => {
    this.#tables.served(kernel);
    const progress = new ClientRejections("route", kernel.clock, () => this.#tell());
    if (this.#statuses !== undefined) this.#clients = progress;
    const reconfigured = () => {
      this.#tables.configMaps?.lookAgain();
      this.#soon();
    };
    const published: Progress["published"] = (_, changes) => this.#tables.published(changes);
    return { progress: Object.assign(this.#clients ?? {}, { published }), reconfigured };
  };
  readonly #options: KubernetesSourceOptions;
  readonly #tables: ClusterTables;
  readonly #watches: Watches;
  readonly #events: EventWriter | undefined;
  readonly #statuses: StatusWriter | undefined;
  /** Undefined: no status says what they reject. */
  #clients: ClientRejections | undefined;
  /** Why something cannot be written, by what that is. */
  readonly #unwritten = new Map<string, Error>();
  /** Of the faults that were reported. */
  #faultChanges = 0;
  #sink: SourceSink | undefined;
  #started: { resolve(): void; reject(error: Error): void } | undefined;
  /** A change is being made, or soon will be: takes that back. */
  #forget: (() => void) | undefined;
  #isClosed = false;
  #publishedAt = Number.NEGATIVE_INFINITY;
  /** Why the server does not take what it was given last. */
  #refusals: readonly Finding[] = [];
  #lastApplied: Date | undefined;
  #lastError: KubernetesStatus["lastError"];

  constructor(options: KubernetesSourceOptions) {
    this.#options = options;
    this.name = options.layer ?? kubernetesLayer;
    this.#tables = new ClusterTables({
      layer: this.name,
      isPartial: options.selector !== undefined,
      readLater: () => this.#soon(),
      files: options.configMaps === undefined ? undefined : (options.read ?? (() => ({}))),
    });
    const { connection, silenceMs } = options;
    this.#watches = new Watches({
      connection,
      silenceMs,
      onChanged: () => this.#soon(),
      failed: (error, path) => this.#failed(path, error),
    });
    if (options.writesEvents)
      this.#events = new EventWriter({ connection, instance: hostname(), failed: this.#writing("Event") });
    if (options.gatewayApi)
      this.#statuses = new StatusWriter({ connection, failed: this.#writing("status of a route") });
  }

  start(sink: SourceSink): Promise<void> {
    this.#sink = sink;
    const started = new Promise<void>((resolve, reject) => {
      this.#started = { resolve, reject };
    });
    const { namespaces, selector, tlsSecrets, configMaps } = this.#options;
    for (const path of namespaces?.map((name) => `namespaces/${encodeURIComponent(name)}/`) ?? [""]) {
      this.#watches.add<KubernetesService>(
        `/api/v1/${path}services`,
        { labelSelector: selector },
        readService,
        (key, _, service) => this.#tables.services.setService(key, service),
      );
      this.#watches.add<EndpointSlice>(
        `/apis/discovery.k8s.io/v1/${path}endpointslices`,
        // Of those that belong to no Service nothing is read.
        { labelSelector: serviceLabel },
        readEndpointSlice,
        (key, before, slice) => this.#tables.services.setSlice(key, before, slice),
      );
      if (this.#statuses !== undefined) this.#watchRoutes(path, this.#statuses);
      if (configMaps !== undefined)
        this.#watches.add<ConfigMap>(
          `/api/v1/${path}configmaps`,
          { labelSelector: configMaps === "" ? undefined : configMaps },
          readConfigMap,
          (key, before, configMap) => this.#tables.configMaps?.setConfigMap(key, before, configMap),
        );
      if (tlsSecrets === undefined) continue;
      this.#watches.add<TlsSecret>(
        `/api/v1/${path}secrets`,
        { labelSelector: tlsSecrets === "" ? undefined : tlsSecrets, fieldSelector: `type=${tlsSecretType}` },
        readTlsSecret,
        (key, _, secret) => this.#tables.secrets.setSecret(key, secret),
      );
    }
    return started;
  }

  status(): KubernetesStatus {
    const { isFailing, heardAt } = this.#watches;
    return {
      state: this.#started !== undefined ? "pending" : isFailing ? "away" : "connected",
      asOf: this.#lastApplied === undefined ? undefined : new Date(heardAt),
      lastApplied: this.#lastApplied,
      services: this.#tables.services.size,
      findings: warningsOf(this.#unwritten, this.#tables.faults(), this.#options.connection),
      failure: isFailing ? this.#lastError?.message : undefined,
      lastError: this.#lastError,
    };
  }

  whereIs(layer: string, resource: Parameters<NonNullable<Source["whereIs"]>>[1]): Where | undefined {
    return this.#tables.whereIs(layer, resource);
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#forget?.();
    this.#tables.configMaps?.close();
    await Promise.all([this.#watches, this.#events, this.#statuses].map((one) => one?.close()));
    this.#started?.reject(new Error("the source is closed"));
    this.#sink?.ended?.();
  }

  #watchRoutes(path: string, statuses: StatusWriter): void {
    for (const [kind, read] of Object.entries({ GRPCRoute: readGrpcRoute, HTTPRoute: readHttpRoute }))
      this.#watches.add<{ readonly route: MeshRoute; readonly status: ObjectStatus }>(
        `/apis/${gatewayApi}/${path}${kind.toLowerCase()}s`,
        {},
        (object) => ({ route: read(object), status: readStatus(object) }),
        (key, _, found) => {
          this.#tables.services.touch(...this.#tables.routes.setRoute(`${kind} ${key}`, found?.route));
          statuses.hold(`${kind} ${key}`, found?.status);
        },
      );
    this.#watches.add<ReferenceGrant>(
      `/apis/${grantApi}/${path}referencegrants`,
      {},
      readReferenceGrant,
      (key, _, grant) => this.#tables.services.touch(...this.#tables.routes.setGrant(key, grant)),
    );
  }

  /**
   * One Service's slices are written one after the other, and rollouts change many: what comes soon after a change is
   * one change. Nobody has to wait for one that comes alone.
   */
  #soon(): void {
    if (this.#forget !== undefined || this.#isClosed || !this.#watches.areSynced) return;
    const since = systemClock.now() - this.#publishedAt;
    const wait = Math.max(0, (this.#options.settleMs ?? usualSettleMs) - since);
    this.#forget = systemClock.after(wait, () => void this.#publish());
  }

  async #publish(): Promise<void> {
    const changedAt = this.#watches.takeChangedAt();
    const changes = await inTurns(this.#tables.take((updates) => this.#sink?.check?.(updates) ?? []));
    this.#forget = undefined;
    this.#publishedAt = systemClock.now();
    if (this.#isClosed || this.#sink === undefined) return;
    const started = this.#started;
    const { configMaps, isDue } = this.#tables;
    // What came meanwhile is among the changes, if nothing else is due.
    if (isDue) this.#soon();
    else this.#watches.takeChangedAt();
    // As with a folder: clients would lose what they had of these before a restart.
    const hasErrors = this.#options.allowPartial !== true && configMaps?.hasErrors === true;
    const waits = started !== undefined && (hasErrors || configMaps?.isReading === true);
    // After one that was refused nobody knows what is there.
    const isWhole = started !== undefined || this.#refusals.length > 0;
    const updates = isWhole ? this.#tables.whole() : changes;
    // Annotations may have changed that make no difference.
    if (waits || updates.length === 0) return this.#tell();
    try {
      // What a cluster has is a fact: no judge can refuse it. That of ConfigMaps was judged.
      this.#sink.apply(updates, { isJudged: false });
      this.#refusals = [];
      for (const layer of configMaps?.forgetEmpty() ?? []) this.#sink.drop?.(layer);
      this.#lastApplied = new Date();
      this.#started = undefined;
      if (started === undefined && changedAt !== undefined) this.#sink.took?.(systemClock.now() - changedAt);
    } catch (error) {
      this.#refusals = refusalOf(error as Error);
      this.#lastError = { at: new Date(), message: (error as Error).message };
      started?.reject(error as Error);
    }
    if (isWhole || this.#refusals.length > 0) this.#report();
    started?.resolve();
    this.#tell();
  }

  #failed(path: string, error: Error | undefined): void {
    if (error !== undefined)
      this.#lastError = { at: new Date(), message: failureText(error, this.#options.connection, path) };
    this.#report();
    this.#tell();
  }

  /** Takes why one of these cannot be written, and that it can again. */
  #writing(what: string): (error: Error | undefined) => void {
    return (error) => {
      if (this.#unwritten.get(what)?.message === error?.message) return;
      if (error === undefined) this.#unwritten.delete(what);
      else this.#unwritten.set(what, error);
      this.#tell();
    };
  }

  /** Tells the server why what is served is not what the cluster has. */
  #report(): void {
    const findings = [...this.#refusals, ...(this.#tables.configMaps?.errors() ?? [])];
    const inPart = findings.length > 0 && this.#lastApplied !== undefined;
    if (this.#watches.isFailing && this.#lastError !== undefined) {
      const { asOf } = this.status();
      const served = asOf === undefined ? "" : `; what is served is of ${asOf.toISOString()}`;
      findings.unshift({ code: "XDSKIT_KUBERNETES", severity: "error", message: this.#lastError.message + served });
    }
    this.#sink?.report(findings.slice(0, maxFindings), { inPart });
  }

  /** What clients reject of what is served for ports. */
  #rejections(): Parameters<ClusterTables["routes"]["setRejections"]>[0] {
    const { made } = this.#tables.services;
    const found = new Map<string, { readonly service: string; readonly words: string }>();
    for (const { resource, words } of this.#clients ?? []) {
      const { name, version } = resource;
      const service = made.objectOf(resource);
      // What was rejected may not be what is served now.
      if (service !== undefined && made.get(resource)?.version === version && !found.has(name))
        found.set(name, { service, words });
    }
    return found;
  }

  /** Something is another one, perhaps an annotation. */
  #tell(): void {
    this.#tables.routes.setRejections(this.#rejections());
    for (const [key, status] of this.#tables.routes.takeStatuses()) this.#statuses?.want(key, status);
    const { configMaps, faultChanges } = this.#tables;
    if (this.#faultChanges !== faultChanges) {
      this.#events?.report(Array.from(this.#tables.faults()).filter(({ finding }) => finding?.severity !== "warning"));
      if (configMaps !== undefined) this.#report();
    }
    this.#faultChanges = faultChanges;
    this.#options.onStatus?.(this.status());
  }
}
