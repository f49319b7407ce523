import {
  type Clock,
  type Finding,
  type Registry,
  type Resource,
  type ResourceTypes,
  systemClock,
  XdskitError,
} from "@xdskit/api";
import type { LayerWrite, LayerWritten, Lease } from "../contracts/layer-writer.js";
import type { LayerUpdate, Source, SourceSink } from "../contracts/source.js";
import type { LayerCommit, Retention, Revision, RevisionId, Store, StoredKey } from "../contracts/store.js";
import type { XdsServer } from "../contracts/xds-server.js";
import type { LayerName } from "../settings/group-settings.js";
import { Deadlines } from "./deadlines.js";
import { EndedLeases } from "./ended-leases.js";
import { LayerLeases, type LeaseChanges, leaseLayerOf, newLeaseId } from "./leases.js";
import { Queue } from "./queue.js";
import { refuse } from "./refuse.js";
import { decodeStored, encodeStored } from "./stored-content.js";
import { type TakeBack, TakeBacks, takeBackFailed } from "./take-backs.js";

/** So many leases are named in one message. */
const mostNamed = 10;

/** What layers are written with. */
export interface WrittenLayersOptions {
  /** The layers, which no source fills. */
  readonly layers: readonly LayerName[];
  readonly store: Store;
  /** What the layers hold is asked here, and whether a change can be applied. */
  readonly server: Pick<XdsServer, "layerSnapshot" | "checkChange">;
  readonly registry: Registry;
  readonly types: ResourceTypes;
  readonly retention: Retention;
  /** A new revision is durable and served. */
  readonly onRevision?: ((revision: Revision) => void) | undefined;
  /** For leases. Default: the system's. */
  readonly clock?: Clock | undefined;
  /** What of the store cannot be read any more, or cleaned up; what cannot be removed although its lease is over. */
  readonly onProblem: (findings: readonly Finding[]) => void;
}

/** Another process may move a head in between so many times: then a change is given up. */
const mostConflicts = 10;

/** So many writers may wait. */
const mostWaiting = 1_000;

/** So many leases there may be. */
const mostLeases = 10_000;

/** After so many milliseconds it is tried again to remove what a lease held. */
const retryMs = 10_000;

/**
 * Layers that programs and people write while the server runs. The store is the truth: a change is durable before it is
 * served, and before its writer hears of it. After a restart the layers have what they had.
 *
 * Resources may belong to a lease: they go when nobody renews it in its time. After a restart each lease has its whole
 * time again.
 *
 * `load` reads the heads. Call it before the sources are started, so that all of them have their content at once.
 */
export class WrittenLayers implements Source {
  readonly name = "written layers";
  readonly layers: readonly LayerName[];
  readonly store: Store;
  readonly #options: WrittenLayersOptions;
  readonly #queue = new Queue(mostWaiting);
  readonly #heads = new Map<LayerName, Revision>();
  readonly #leases: readonly LayerLeases[];
  readonly #deadlines: Deadlines;
  readonly #ended: EndedLeases;
  readonly #takeBacks: TakeBacks;
  #loaded: readonly LayerUpdate[] = [];
  #sink: SourceSink | undefined;

  constructor(options: WrittenLayersOptions) {
    this.#options = options;
    this.layers = options.layers;
    this.store = options.store;
    this.#leases = options.layers.map((layer) => new LayerLeases(layer));
    this.#ended = new EndedLeases({
      run: (task) => this.#queue.run(task),
      end: async (layer, ids) => {
        const over = ids.filter((id) => this.#isOver(id));
        if (over.length > 0) await this.#endAll(layer, over);
      },
      failed: (ids, error) => this.#stay(ids, error),
    });
    this.#takeBacks = new TakeBacks({
      store: options.store,
      clock: options.clock ?? systemClock,
      run: (task) => this.#queue.run(task),
      committed: (heads) => this.#takenBack(heads),
      follow: (layer, head) => this.#follow(layer, head),
      failed: (error) => this.#options.onProblem([takeBackFailed((error as Error).message)]),
    });
    this.#deadlines = new Deadlines(options.clock ?? systemClock, (id) => {
      const lease = this.lease(id);
      if (lease !== undefined) this.#ended.add(lease.layer, id);
    });
  }

  /** Reads what the layers held last. Rejects if the store cannot be read. */
  async load(): Promise<void> {
    const heads = await this.#options.store.heads();
    for (const leases of this.#leases) {
      const head = heads.find(({ layer }) => layer === leaseLayerOf(leases.layer));
      if (head !== undefined) leases.load(head.id, await this.#options.store.read(head.id));
    }
    const updates: LayerUpdate[] = [];
    for (const head of heads.filter(({ layer }) => this.layers.includes(layer))) {
      this.#heads.set(head.layer, head);
      const upsert = await this.#contents(head.id);
      // A layer without resources must not cost anything.
      if (upsert.length > 0) updates.push({ layer: head.layer, kind: "replace", upsert });
    }
    this.#loaded = updates;
  }

  async start(sink: SourceSink): Promise<void> {
    this.#sink = sink;
    const updates = this.#loaded;
    this.#loaded = [];
    if (updates.length > 0) sink.apply(updates);
    for (const { id, ttlMs } of this.leases) this.#deadlines.set(id, ttlMs);
  }

  /** Waits for changes that are under way. */
  async close(): Promise<void> {
    this.#deadlines.close();
    const settled = this.#takeBacks.close();
    await this.#queue.close();
    await settled;
  }

  /** All leases that there are. */
  get leases(): readonly Lease[] {
    return this.#leases.flatMap((leases) => Array.from(leases.ids, (id) => leases.get(id) ?? []).flat());
  }

  /** A lease, and how many milliseconds it has left; undefined: it is over, or never was. */
  lease(id: string): (Lease & { readonly leftMs: number }) | undefined {
    const lease = this.#leases.map((leases) => leases.get(id)).find((found) => found !== undefined);
    return lease && { ...lease, leftMs: this.#deadlines.left(id) ?? 0 };
  }

  /** Gives a lease its whole time again. Throws XDSKIT_LEASE_UNKNOWN if it is over. */
  renewLease(id: string): Lease {
    const lease = this.lease(id);
    if (lease === undefined) throw leaseUnknown(id);
    this.#deadlines.set(id, lease.ttlMs);
    return lease;
  }

  /** Removes what a lease holds. Rejects as `write` does: then it is tried again later. */
  async endLease(id: string): Promise<LayerWritten> {
    const lease = this.lease(id);
    if (lease === undefined) throw leaseUnknown(id);
    this.#deadlines.forget(id);
    try {
      return await this.#queue.run(() => this.#endAll(lease.layer, [id]));
    } catch (error) {
      this.#stay([id], error);
      throw error;
    }
  }

  /** Nobody has renewed it, and nothing has removed it. */
  #isOver(id: string): boolean {
    return this.#deadlines.left(id) === undefined && this.lease(id) !== undefined;
  }

  /** In its turn: what was over when it was asked for may have been renewed, or hold less by now. */
  #endAll(layer: LayerName, ids: readonly string[]): Promise<LayerWritten> {
    return this.#write(layer, () => {
      const over = ids.filter((id) => this.#isOver(id));
      const [first = ""] = over;
      if (first === "") {
        if (ids.every((id) => this.lease(id) === undefined)) throw leaseUnknown(ids[0] ?? "");
        throw XdskitError.of("XDSKIT_REVISION_CONFLICT", "the lease was renewed in between");
      }
      const remove = over
        .flatMap((id) => this.lease(id)?.resources ?? [])
        .flatMap(({ type, key }) => {
          const found = this.#options.types.byTypeUrl(type);
          return found === undefined ? [] : [{ type: found.type, name: key }];
        });
      const cause = { kind: "lease-ended", lease: first } as const;
      const info = { author: "lease", cause, message: `${namesOf(over)} ended`, time: Date.now() };
      return { layer, upsert: [], remove, replace: false, info };
    });
  }

  /** It is tried again later to end these. */
  #stay(ids: readonly string[], error: unknown): void {
    const over = ids.filter((id) => this.#isOver(id));
    if (over.length === 0 || this.#queue.isClosed) return;
    for (const id of over) this.#deadlines.set(id, retryMs);
    this.#problem(error, `${namesOf(over)} cannot end now: `);
  }

  /** The newest revision of a layer; undefined: there is none. */
  head(layer: LayerName): Revision | undefined {
    return this.#heads.get(layer);
  }

  /**
   * Makes a change, whole or not at all. Rejects with an XdskitError: what the server refuses, what the condition
   * throws, and XDSKIT_STORE if it cannot be kept.
   */
  write(write: LayerWrite): Promise<LayerWritten> {
    return this.#queue.run(() => this.#write(write.layer, () => write));
  }

  /**
   * Makes a layer what it was at a revision; empty where that is undefined. Rejects as `write` does, and with
   * XDSKIT_REVISION_UNKNOWN.
   */
  async rollBack(
    layer: LayerName,
    to: RevisionId | undefined,
    rest: Pick<LayerWrite, "expected" | "info">,
  ): Promise<LayerWritten> {
    const upsert = to === undefined ? [] : await this.#contents(to);
    return await this.write({ layer, upsert, remove: [], replace: true, ...rest });
  }

  /** `asked` says anew at each try what to write. */
  async #write(layer: LayerName, asked: () => LayerWrite): Promise<LayerWritten> {
    const leases = this.#leasesOf(layer);
    await this.#takeBacks.settle(layer);
    let lease: { readonly id: string; readonly ttlMs: number } | undefined;
    for (let tries = 0; tries < mostConflicts; tries += 1) {
      const head = this.#heads.get(layer);
      const write = asked();
      const { expected, condition, info } = write;
      if (expected !== undefined && (head?.id ?? null) !== expected) return { kind: "conflict", head };
      lease ??= this.#wantedLease(leases, write.lease);
      condition?.();
      const update = this.#update(write);
      refuse(this.#options.server.checkChange([update]));
      const leased = leases.plan(...this.#touched(write, update, leases), lease);
      if (head === undefined && update.upsert.length === 0) return { kind: "written", head, isNew: false };
      const commits = [commitOf(update, head), ...(leased.size === 0 ? [] : [leases.commitOf(leased)])];
      const back = leased.size === 0 ? undefined : leases.commitOf(leases.reverse(leased));
      const result = await this.#options.store.commit(commits, info);
      if (result.kind === "conflict") {
        await this.#follow(result.layer, result.head);
        continue;
      }
      const written = await this.#serve(update, head, result.heads, back);
      this.#takeLeases(leases, leased, result.heads[1]?.id, lease?.id);
      return { ...written, lease: lease && leases.get(lease.id) };
    }
    throw XdskitError.of("XDSKIT_STORE", `another writer was faster ${mostConflicts} times: nothing was changed`);
  }

  #leasesOf(layer: LayerName): LayerLeases {
    const leases = this.#leases.find((one) => one.layer === layer);
    if (leases !== undefined) return leases;
    throw XdskitError.of("XDSKIT_LAYER_UNKNOWN", `layer ${JSON.stringify(layer)} is not written here`);
  }

  #wantedLease(leases: LayerLeases, wanted: LayerWrite["lease"]) {
    if (wanted === undefined) return undefined;
    if ("id" in wanted) {
      const known = leases.get(wanted.id);
      if (known === undefined) throw leaseUnknown(wanted.id);
      return known;
    }
    const count = this.#leases.reduce((sum, { size }) => sum + size, 0);
    if (count >= mostLeases) throw XdskitError.of("XDSKIT_BUSY", `there are ${mostLeases} leases already`);
    return { id: newLeaseId(), ttlMs: wanted.ttlMs };
  }

  /**
   * What a change puts in, and what it removes, or would if it were there: it belongs to no lease any more. A change
   * that replaces the layer leaves what stays as it was to its lease: nobody has asked for it by name.
   */
  #touched(
    { remove, replace, lease }: LayerWrite,
    update: LayerUpdate,
    leases: LayerLeases,
  ): [written: readonly StoredKey[], removed: readonly StoredKey[]] {
    const keyOf = ({ type, key }: Resource) => ({ type: type.typeUrl, key });
    if (replace) {
      const now = this.#options.server.layerSnapshot(update.layer);
      const stays = ({ type, name, key, version }: Resource) =>
        now
          ?.of(type)
          .named(name)
          .some((one) => one.key === key && one.version === version) === true;
      const written = lease === undefined ? update.upsert.filter((one) => !stays(one)) : update.upsert;
      return [written.map(keyOf), leases.othersThan(update.upsert.map(keyOf))];
    }
    const removed = [...remove, ...(update.remove ?? [])];
    return [update.upsert.map(keyOf), removed.map(({ type, name }) => ({ type: type.typeUrl, key: name }))];
  }

  /** `wanted`: the lease that the change named. Another one that is over by now does not get time from its loss. */
  #takeLeases(
    leases: LayerLeases,
    changes: LeaseChanges,
    head: RevisionId | undefined,
    wanted: string | undefined,
  ): void {
    leases.apply(changes);
    leases.head = head ?? leases.head;
    for (const [id, held] of changes) {
      if (held === undefined) this.#deadlines.forget(id);
      else if (id === wanted && this.#deadlines.left(id) === undefined) this.#deadlines.set(id, held.ttlMs);
    }
  }

  /** With the keys of what is removed, as a store needs them. */
  #update({ layer, upsert, remove, replace }: LayerWrite): LayerUpdate {
    if (replace) return { layer, kind: "replace", upsert };
    const now = this.#options.server.layerSnapshot(layer);
    const keys = remove.flatMap(
      ({ type, name }) =>
        now
          ?.of(type)
          .named(name)
          .map(({ key }) => ({ type, name: key })) ?? [],
    );
    return { layer, kind: "patch", upsert, remove: keys };
  }

  async #serve(
    update: LayerUpdate,
    before: Revision | undefined,
    [head, leaseHead]: readonly (Revision | undefined)[],
    released: LayerCommit | undefined,
  ): Promise<Extract<LayerWritten, { kind: "written" }>> {
    const isNew = head !== undefined && head.id !== before?.id;
    if (!isNew) return { kind: "written", head: before, isNew };
    this.#heads.set(update.layer, head);
    try {
      this.#sink?.apply([update]);
    } catch (error) {
      if (before === undefined) this.#heads.delete(update.layer);
      else this.#heads.set(update.layer, before);
      // Another layer has changed since it was checked. What is not served must not stand in the store.
      const leases = released && { ...released, parent: leaseHead?.id };
      await this.#takeBacks.add(update.layer, this.#takeBackOf(update.layer, head, leases));
      throw error;
    }
    this.#options.onRevision?.(head);
    await this.#options.store.retain(this.#options.retention).catch((error) => this.#problem(error));
    return { kind: "written", head, isNew };
  }

  #takeBackOf(layer: LayerName, head: Revision, leases: LayerCommit | undefined): TakeBack {
    const held = [...(this.#options.server.layerSnapshot(layer)?.sets.values() ?? [])].flatMap((set) => [...set]);
    const cause = { kind: "rollback", to: head.parent ?? "" } as const;
    const info = { author: head.author, cause, message: "the server refused the change", time: Date.now() };
    const commit = commitOf({ layer, kind: "replace", upsert: held }, head);
    return { info, commits: leases === undefined ? [commit] : [commit, leases] };
  }

  #takenBack(heads: readonly (Revision | undefined)[]): void {
    for (const head of heads) {
      if (head === undefined) continue;
      const leases = this.#leases.find((one) => leaseLayerOf(one.layer) === head.layer);
      if (leases === undefined) this.#heads.set(head.layer, head);
      else leases.head = head.id;
    }
  }

  /** Another process has changed the layer, or its leases, in the same store: that is served first. */
  async #follow(layer: LayerName, head: Revision | undefined): Promise<void> {
    const leases = this.#leases.find((one) => leaseLayerOf(one.layer) === layer);
    if (leases !== undefined) {
      leases.load(head?.id, head === undefined ? [] : await this.#options.store.read(head.id));
      for (const { id, ttlMs } of this.leases)
        if (this.#deadlines.left(id) === undefined) this.#deadlines.set(id, ttlMs);
      return;
    }
    if (head === undefined) return void this.#heads.delete(layer);
    const upsert = await this.#contents(head.id);
    this.#heads.set(layer, head);
    try {
      // It was judged where it was written. If it were refused here, nobody could change the layer any more.
      this.#sink?.apply([{ layer, kind: "replace", upsert }], { isJudged: false });
    } catch (error) {
      this.#problem(error);
    }
  }

  /** A resource whose type the server does not know any more is left out, and told. */
  async #contents(id: RevisionId): Promise<readonly Resource[]> {
    const found: Resource[] = [];
    for (const stored of await this.#options.store.read(id)) {
      try {
        found.push(decodeStored(stored, this.#options));
      } catch (error) {
        this.#problem(error);
      }
    }
    return found;
  }

  #problem(error: unknown, what = ""): void {
    const unknown = { code: "XDSKIT_STORE", severity: "error", message: (error as Error).message } as const;
    const findings: readonly Finding[] = error instanceof XdskitError ? error.findings : [unknown];
    this.#options.onProblem(findings.map((finding) => ({ ...finding, message: what + finding.message })));
  }
}

function leaseUnknown(id: string): XdskitError {
  return XdskitError.of("XDSKIT_LEASE_UNKNOWN", `there is no lease ${JSON.stringify(id.slice(0, 100))}: it is over`);
}

/** For people: many are named by the first of them. */
function namesOf(ids: readonly string[]): string {
  const named = ids.slice(0, mostNamed).join(", ");
  if (ids.length === 1) return `lease ${named}`;
  return `${ids.length} leases (${named}${ids.length > mostNamed ? ", …" : ""})`;
}

function commitOf({ layer, kind, upsert, remove }: LayerUpdate, head: Revision | undefined): LayerCommit {
  return {
    ...{ layer, kind, parent: head?.id, upsert: upsert.map(encodeStored) },
    remove: remove?.map(({ type, name }) => ({ type: type.typeUrl, key: name })),
  };
}
