import { hostname } from "node:os";
import { type Finding, inTurns, maxFindings, type Steps, systemClock, type Where, XdskitError } from "@xdskit/api";
import type { Source, SourceSink } from "@xdskit/server";
import type { KubernetesConnection } from "./connection/connection.js";
import { EventWriter } from "./events/event-writer.js";
import { type EndpointSlice, readEndpointSlice, serviceLabel } from "./objects/endpoint-slice.js";
import { type ObjectFault, textOfObject } from "./objects/object-fault.js";
import { readService, type Service } from "./objects/service.js";
import { readTlsSecret, type TlsSecret, tlsSecretType } from "./objects/tls-secret.js";
import type { TableChange } from "./resources/made-resources.js";
import { SecretTable } from "./resources/secret-table.js";
import { ServiceTable } from "./resources/service-table.js";
import { ApiError } from "./watching/api-error.js";
import { ListWatch, type ListWatchOptions } from "./watching/list-watch.js";

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
  /** What changes within this time is one change, in milliseconds. Default: 20. */
  readonly settleMs?: number | undefined;
  /**
   * The labels of the Secrets of the type `kubernetes.io/tls` that are served, as secrets (SDS) `NAMESPACE/NAME` and
   * `NAMESPACE/NAME/ca` (`ca.crt`); empty: all. Who gets secrets, `identities` of the server say. Default: none.
   */
  readonly tlsSecrets?: string | undefined;
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
  /** What is not followed of objects, and that no Event can be written: a warning for each, at most a hundred. */
  readonly findings: readonly Finding[];
  /** Why the server does not say now what is new; undefined: it does. */
  readonly failure: string | undefined;
  /** The last error, however old. */
  readonly lastError: { readonly at: Date; readonly message: string } | undefined;
}

/** A source, which also says how well it knows the cluster. */
export interface KubernetesSource extends Source {
  status(): KubernetesStatus;
}

/** For `localityTypes` of the server: clients that say a zone, or a node as `sub_zone`, find near pods. */
export const kubernetesLocalityTypes = ["type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment"] as const;

/** The layer of a source that is given none. */
export const kubernetesLayer = "kubernetes";

const usualSettleMs = 20;

/**
 * Makes a source of the Services of a Kubernetes cluster, for gRPC's clients: each port of each Service is a listener
 * for every name by which it may be called, a route configuration, a cluster and a load assignment.
 *
 * Its start resolves once all Services and EndpointSlices were read, however long the API server is away. Later it
 * serves what it knows while the server is away.
 */
export function createKubernetesSource(options: KubernetesSourceOptions): KubernetesSource {
  return new WatchedCluster(options);
}

class WatchedCluster implements KubernetesSource {
  readonly name: string;
  readonly #options: KubernetesSourceOptions;
  readonly #layer: string;
  readonly #table = new ServiceTable();
  readonly #secrets = new SecretTable();
  readonly #watches: ListWatch<unknown>[] = [];
  /** Those that have read everything once. */
  readonly #synced = new Set<number>();
  readonly #failures = new Map<number, Error>();
  readonly #events: EventWriter | undefined;
  #eventFailure: Error | undefined;
  /** Of the faults that were reported. */
  #faultChanges = 0;
  #sink: SourceSink | undefined;
  #started: { resolve(): void; reject(error: Error): void } | undefined;
  #forget: (() => void) | undefined;
  #isClosed = false;
  /** A change is being made, or soon will be. */
  #publishing = false;
  #isRefused = false;
  #lastApplied: Date | undefined;
  #lastError: KubernetesStatus["lastError"];

  constructor(options: KubernetesSourceOptions) {
    this.#options = options;
    this.#layer = options.layer ?? kubernetesLayer;
    this.name = this.#layer;
    this.#events = options.writesEvents ? this.#writer() : undefined;
  }

  start(sink: SourceSink): Promise<void> {
    this.#sink = sink;
    const started = new Promise<void>((resolve, reject) => {
      this.#started = { resolve, reject };
    });
    const { namespaces, selector, tlsSecrets } = this.#options;
    for (const path of namespaces?.map((name) => `namespaces/${encodeURIComponent(name)}/`) ?? [""]) {
      this.#watch<Service>(`/api/v1/${path}services`, { labelSelector: selector }, readService, (key, _, service) =>
        this.#table.setService(key, service),
      );
      this.#watch<EndpointSlice>(
        `/apis/discovery.k8s.io/v1/${path}endpointslices`,
        // Of those that belong to no Service nothing is read.
        { labelSelector: serviceLabel },
        readEndpointSlice,
        (key, before, slice) => this.#table.setSlice(key, before, slice),
      );
      if (tlsSecrets === undefined) continue;
      this.#watch<TlsSecret>(
        `/api/v1/${path}secrets`,
        { labelSelector: tlsSecrets === "" ? undefined : tlsSecrets, fieldSelector: `type=${tlsSecretType}` },
        readTlsSecret,
        (key, _, secret) => this.#secrets.setSecret(key, secret),
      );
    }
    return started;
  }

  status(): KubernetesStatus {
    const heard = this.#watches.map(({ heardAt }) => heardAt ?? Number.NaN);
    return {
      state: this.#started !== undefined ? "pending" : this.#failures.size > 0 ? "away" : "connected",
      asOf: this.#lastApplied === undefined ? undefined : new Date(Math.min(...heard)),
      lastApplied: this.#lastApplied,
      services: this.#table.size,
      findings: this.#warnings(),
      failure: this.#failures.size > 0 ? this.#lastError?.message : undefined,
      lastError: this.#lastError,
    };
  }

  whereIs(layer: string, resource: Parameters<NonNullable<Source["whereIs"]>>[1]): Where | undefined {
    if (layer !== this.#layer) return undefined;
    const made = { type: resource.type, name: resource.key };
    const service = this.#table.made.objectOf(made);
    if (service !== undefined) return { file: `Service ${service}` };
    const secret = this.#secrets.made.objectOf(made);
    return secret === undefined ? undefined : { file: `Secret ${secret}` };
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#forget?.();
    await Promise.all([...this.#watches, this.#events].map((one) => one?.close()));
    this.#started?.reject(new Error("the source is closed"));
    this.#sink?.ended?.();
  }

  #watch<Value>(
    path: string,
    selectors: Pick<ListWatchOptions<Value>, "labelSelector" | "fieldSelector">,
    read: (object: object) => Value | undefined,
    changed: (key: string, before: Value | undefined, value: Value | undefined) => void,
  ): void {
    const { connection, silenceMs } = this.#options;
    const number = this.#watches.length;
    this.#watches.push(
      new ListWatch<Value>({
        ...{ connection, path, read, silenceMs, ...selectors },
        changed: (key, before, value) => {
          changed(key, before, value);
          this.#soon();
        },
        synced: () => {
          this.#synced.add(number);
          this.#soon();
        },
        failed: (error) => this.#failed(number, error),
      }) as ListWatch<unknown>,
    );
  }

  /** One Service's slices are written one after the other: what comes together is one change. */
  #soon(): void {
    if (this.#publishing || this.#isClosed || this.#synced.size < this.#watches.length) return;
    this.#publishing = true;
    this.#forget = systemClock.after(this.#options.settleMs ?? usualSettleMs, () => void this.#publish());
  }

  *#take(): Steps<TableChange> {
    const services = yield* this.#table.take();
    const secrets = yield* this.#secrets.take();
    return { upsert: [...services.upsert, ...secrets.upsert], remove: [...services.remove, ...secrets.remove] };
  }

  async #publish(): Promise<void> {
    const change = await inTurns(this.#take());
    this.#publishing = false;
    if (this.#isClosed || this.#sink === undefined) return;
    const started = this.#started;
    // After one that was refused nobody knows what is there.
    const isWhole = started !== undefined || this.#isRefused;
    const { upsert, remove } = isWhole ? { upsert: [...this.#table.made, ...this.#secrets.made], remove: [] } : change;
    if (this.#table.isDue || this.#secrets.isDue) this.#soon();
    // Annotations may have changed that make no difference.
    if (!isWhole && upsert.length === 0 && remove.length === 0) return this.#tell();
    try {
      // What a cluster has is a fact: nobody can refuse it.
      this.#sink.apply([{ layer: this.#layer, kind: isWhole ? "replace" : "patch", upsert, remove }], {
        isJudged: false,
      });
    } catch (error) {
      this.#isRefused = true;
      this.#lastError = { at: new Date(), message: (error as Error).message };
      started?.reject(error as Error);
      return;
    }
    this.#isRefused = false;
    this.#lastApplied = new Date();
    this.#started = undefined;
    if (isWhole) this.#sink.report(this.#findings());
    started?.resolve();
    this.#tell();
  }

  #failed(number: number, error: Error | undefined): void {
    const before = this.#failures.get(number)?.message;
    if (before === error?.message) return;
    if (error === undefined) this.#failures.delete(number);
    else {
      this.#failures.set(number, error);
      this.#lastError = { at: new Date(), message: messageOf(error, this.#options.connection) };
    }
    this.#sink?.report(this.#findings());
    this.#tell();
  }

  *#faults(): Iterable<ObjectFault> {
    yield* this.#table.faults;
    yield* this.#secrets.faults;
  }

  #writer(): EventWriter {
    return new EventWriter({
      ...{ connection: this.#options.connection, instance: hostname() },
      failed: (error) => {
        if (this.#eventFailure?.message === error?.message) return;
        this.#eventFailure = error;
        this.#tell();
      },
    });
  }

  #warnings(): readonly Finding[] {
    const found: Finding[] = [];
    if (this.#eventFailure !== undefined) {
      const message = `no Event can be written: ${messageOf(this.#eventFailure, this.#options.connection)}`;
      found.push({ code: "XDSKIT_KUBERNETES", severity: "warning", message });
    }
    for (const { object, field, message } of this.#faults()) {
      if (found.length === maxFindings) break;
      const code = object.kind === "Service" ? "XDSKIT_ANNOTATION" : "XDSKIT_KUBERNETES_OBJECT";
      found.push({
        code,
        severity: "warning",
        message,
        file: textOfObject(object),
        ...(field === "" ? {} : { field }),
      });
    }
    return found;
  }

  #findings(): readonly Finding[] {
    if (this.#failures.size === 0 || this.#lastError === undefined) return [];
    const { asOf } = this.status();
    const served = asOf === undefined ? "" : `; what is served is of ${asOf.toISOString()}`;
    return [{ code: "XDSKIT_KUBERNETES", severity: "error", message: this.#lastError.message + served }];
  }

  /** Something is another one, perhaps an annotation. */
  #tell(): void {
    const changes = this.#table.faults.changes + this.#secrets.faults.changes;
    if (this.#faultChanges !== changes) this.#events?.report(this.#faults());
    this.#faultChanges = changes;
    this.#options.onStatus?.(this.status());
  }
}

/** What went wrong, and what to do. */
function messageOf(error: Error, { server, from }: KubernetesConnection): string {
  if (error instanceof ApiError) {
    const advice: Readonly<Record<number, string>> = {
      401: `; it does not accept the credentials of ${from}`,
      403: "; allow it with the role in deploy/kubernetes/services.yaml, or name the namespaces that it may read",
      404: "; is there an API server of Kubernetes?",
    };
    return `the API server ${server.origin} refuses: ${error.message}${advice[error.status] ?? ""}`;
  }
  if (error instanceof XdskitError) return error.findings[0]?.message ?? error.message;
  return `the API server ${server.origin} does not answer: ${(error as NodeJS.ErrnoException).code ?? error.message}`;
}
