import { type Clock, listNames, maxNamesKept, type ResourceTypes, XdskitError } from "@xdskit/api";
import type { LayerWrite, Lease } from "../../contracts/stores/layer-writer.js";
import type { SharedKeys } from "../../contracts/stores/shared-keys.js";
import type { Revision, StoredResource } from "../../contracts/stores/store.js";
import type { LayerName } from "../../settings/group-settings.js";
import { writeAgainMs } from "../basics/paces.js";
import { resourcesNamed } from "../history/stored-content.js";
import { Deadlines } from "./deadlines.js";
import { EndedLeases } from "./ended-leases.js";
import { LeaseRenewals } from "./lease-renewals.js";
import { LayerLeases, type LeaseChanges, leaseLayerOf, newLeaseId } from "./leases.js";

/** Says for some leases how many milliseconds other servers of the store know them to have left. */
export type TimeLeft = (ids: readonly string[]) => Promise<ReadonlyMap<string, number>>;

interface LeaseBookOptions {
  readonly layers: readonly LayerName[];
  readonly types: ResourceTypes;
  readonly clock: Clock;
  /** Where the servers of the store tell each other of renewals. */
  readonly shared: SharedKeys;
  /** Runs a task in its turn. */
  readonly run: <T>(task: () => Promise<T>) => Promise<T>;
  readonly timeLeft?: TimeLeft | undefined;
  /** In its turn: removes what these hold, in one change. */
  readonly end: (layer: LayerName, ids: readonly string[]) => Promise<unknown>;
  /** These could not be ended, and will be tried again. */
  readonly failed: (names: string, error: unknown) => void;
}

/** The leases of all written layers, and when each is over: a server hears of what the others renew. */
export class LeaseBook {
  readonly #options: LeaseBookOptions;
  readonly #layers: readonly LayerLeases[];
  readonly #deadlines: Deadlines;
  readonly #ended: EndedLeases;
  readonly #renewals: LeaseRenewals;
  /** Those that the last change of this kind ends; empty once that has failed. */
  #ending: ReadonlySet<string> = new Set();
  #phase: "new" | "started" | "closed" = "new";

  constructor(options: LeaseBookOptions) {
    this.#options = options;
    this.#layers = options.layers.map((layer) => new LayerLeases(layer));
    this.#ended = new EndedLeases({
      run: options.run,
      end: async (layer, ids) => {
        const over = this.#over(await this.#withoutTime(ids));
        if (over.length > 0) await options.end(layer, over);
      },
      failed: (ids, error) => this.stay(ids, error),
    });
    this.#deadlines = new Deadlines(options.clock, (id) => {
      const lease = this.get(id);
      if (lease !== undefined) this.#ended.add(lease.layer, id);
    });
    this.#renewals = new LeaseRenewals({
      shared: options.shared,
      clock: options.clock,
      leftOf: (id) => this.#deadlines.left(id),
      renewed: (id, leftMs) => this.#lengthen(id, leftMs),
      missed: () => this.restart(),
    });
  }

  /** Begins to hear of the renewals of others, as soon as there is a lease. All leases have their whole time. */
  start(): void {
    this.#phase = "started";
    this.restart();
    this.#joinOthers();
  }

  /** All leases that there are. */
  get all(): readonly Lease[] {
    return this.#layers.flatMap((leases) => Array.from(leases.ids, (id) => leases.get(id) ?? []).flat());
  }

  /** A lease, and how many milliseconds it has left. */
  get(id: string): (Lease & { readonly leftMs: number }) | undefined {
    const lease = this.#layers.map((leases) => leases.get(id)).find((found) => found !== undefined);
    return lease && { ...lease, leftMs: this.#deadlines.left(id) ?? 0 };
  }

  /** The leases of a layer that is written. Throws XDSKIT_LAYER_UNKNOWN. */
  of(layer: LayerName): LayerLeases {
    const leases = this.#layers.find((one) => one.layer === layer);
    if (leases !== undefined) return leases;
    throw XdskitError.of("XDSKIT_LAYER_UNKNOWN", `layer ${JSON.stringify(layer)} is not written here`);
  }

  /** The leases that a layer of the store holds. */
  keptIn(layer: LayerName): LayerLeases | undefined {
    return this.#layers.find((one) => leaseLayerOf(one.layer) === layer);
  }

  /**
   * Reads the leases of the store, and forgets the known ones. A new lease has its whole time. One that is over stays
   * over: a change by another server does not renew it.
   */
  load(leases: LayerLeases, head: Revision | undefined, stored: readonly StoredResource[]): void {
    const known = new Set(leases.ids);
    leases.load(head, stored);
    for (const id of leases.ids)
      if (!known.has(id) && this.#stateOf(id) === "over") this.#deadlines.set(id, leases.get(id)?.ttlMs ?? 0);
    this.#joinOthers();
  }

  /** Gives every lease its whole time: the server that knew of their renewals is gone. */
  restart(): void {
    for (const { id, ttlMs } of this.all) this.#deadlines.set(id, ttlMs);
  }

  /** The lease that a write names. Throws XDSKIT_LEASE_UNKNOWN, and XDSKIT_BUSY if there are too many. */
  wanted(leases: LayerLeases, wanted: LayerWrite["lease"]): Pick<Lease, "id" | "ttlMs"> | undefined {
    if (wanted === undefined) return undefined;
    if ("id" in wanted) return leases.get(wanted.id) ?? unknown(wanted.id);
    const count = this.#layers.reduce((sum, { size }) => sum + size, 0);
    if (count >= maxNamesKept) throw XdskitError.of("XDSKIT_BUSY", `there are ${maxNamesKept} leases already`);
    return { id: newLeaseId(), ttlMs: wanted.ttlMs };
  }

  /** `wanted`: the lease that the change named. Another one that is over by now does not get time from its loss. */
  take(leases: LayerLeases, changes: LeaseChanges, head: Revision | undefined, wanted: string | undefined): void {
    leases.apply(changes);
    leases.head = head ?? leases.head;
    for (const [id, lease] of changes) {
      if (lease === undefined) {
        this.#deadlines.forget(id);
        this.#renewals.forget(id);
      } else if (id === wanted && this.#stateOf(id) === "over") this.#deadlines.set(id, lease.ttlMs);
    }
    this.#joinOthers();
  }

  /**
   * Gives a lease its whole time again, at all servers of the store. Rejects with XDSKIT_LEASE_UNKNOWN if it is over,
   * with XDSKIT_STORE if the others cannot be told, and as `run` does if its end is being written.
   */
  async renew(id: string): Promise<Lease> {
    const lease = this.get(id) ?? unknown(id);
    this.#deadlines.set(id, lease.ttlMs);
    await this.#renewals.renewed(id);
    // If its end is written now, only the outcome says whether it still can be renewed.
    if (this.#ending.has(id)) await this.#options.run(async () => {});
    return this.get(id) ?? unknown(id);
  }

  /** Its time is over now. Throws XDSKIT_LEASE_UNKNOWN if it was over before. */
  finish(id: string): Lease {
    const lease = this.get(id) ?? unknown(id);
    this.#deadlines.forget(id);
    return lease;
  }

  /** The change that ends these, asked in its turn: some may have been renewed, or hold less by now. */
  ending(layer: LayerName, ids: readonly string[]): LayerWrite {
    const over = this.#over(ids);
    const [first] = over;
    if (first === undefined) {
      if (ids.every((id) => this.#stateOf(id) === "gone")) unknown(ids[0] ?? "");
      throw XdskitError.of("XDSKIT_REVISION_CONFLICT", "the lease was renewed in between");
    }
    this.#ending = new Set(over);
    const leased = over.flatMap((id) => this.get(id)?.resources ?? []);
    const remove = resourcesNamed(leased, this.#options.types);
    const cause = { kind: "lease-ended", lease: first } as const;
    const info = { author: "lease", cause, message: `${namesOf(over)} ended`, time: Date.now() };
    return { layer, upsert: [], remove, replace: false, info };
  }

  /** It is tried again later to end these. */
  stay(ids: readonly string[], error: unknown): void {
    this.#ending = new Set();
    const over = this.#over(ids);
    if (over.length === 0 || this.#phase === "closed") return;
    for (const id of over) this.#deadlines.set(id, writeAgainMs);
    this.#options.failed(namesOf(over), error);
  }

  async close(): Promise<void> {
    this.#phase = "closed";
    this.#deadlines.close();
    await this.#renewals.close();
  }

  /** `over`: nobody has renewed it in its time, and nothing has removed it yet. */
  #stateOf(id: string): "running" | "over" | "gone" {
    if (this.get(id) === undefined) return "gone";
    return this.#deadlines.left(id) === undefined ? "over" : "running";
  }

  #over(ids: readonly string[]): readonly string[] {
    return ids.filter((id) => this.#stateOf(id) === "over");
  }

  /** A server that has no lease writes nothing to the store for them. */
  #joinOthers(): void {
    if (this.#phase === "started" && this.#layers.some(({ size }) => size > 0)) this.#renewals.start();
  }

  /** Another server knows it to have this many milliseconds left. */
  #lengthen(id: string, leftMs: number): void {
    if (this.#phase === "closed" || this.#stateOf(id) === "gone") return;
    if (leftMs > (this.#deadlines.left(id) ?? 0)) this.#deadlines.set(id, leftMs);
  }

  /** Those that no other server has renewed; the others have the time that they have there. */
  async #withoutTime(ids: readonly string[]): Promise<readonly string[]> {
    await this.#renewals.look();
    const left = await this.#options.timeLeft?.(ids);
    if (left === undefined) return ids;
    for (const [id, ms] of left) if (ms > 0 && this.#stateOf(id) === "over") this.#deadlines.set(id, ms);
    return ids.filter((id) => (left.get(id) ?? 0) <= 0);
  }
}

/** Throws XDSKIT_LEASE_UNKNOWN. */
function unknown(id: string): never {
  throw XdskitError.of("XDSKIT_LEASE_UNKNOWN", `there is no lease ${JSON.stringify(id.slice(0, 100))}: it is over`);
}

/** For people: many are named by the first of them. */
function namesOf(ids: readonly string[]): string {
  return ids.length === 1 ? `lease ${ids[0]}` : `${ids.length} leases (${listNames(ids)})`;
}
