import { setTimeout as delay } from "node:timers/promises";
import { systemClock, throwIfAny, XdskitError } from "@xdskit/api";
import { resourcesOfLayer } from "../../configuration/resources-of-layer.js";
import type { LayerUpdate, Source, SourceSink } from "../../contracts/source.js";
import type { LayerWrite, LayerWritten, Lease } from "../../contracts/stores/layer-writer.js";
import type { LayerCommit, Revision, RevisionId, Store } from "../../contracts/stores/store.js";
import type { LayerName } from "../../settings/group-settings.js";
import { inTime } from "../basics/in-time.js";
import { maxConflicts } from "../basics/paces.js";
import { Queue } from "../basics/queue.js";
import { storeFindings } from "../basics/store-finding.js";
import { Retaining } from "../history/retaining.js";
import { stepsBack } from "../history/steps-back.js";
import { commitOf } from "../history/stored-content.js";
import { LeaseBook } from "../leases/lease-book.js";
import { LayerHeads } from "./layer-heads.js";
import { type StoreAway, StoreFollower } from "./store-follower.js";
import { TakeBacks, takeBackFailed } from "./take-backs.js";
import type { WrittenLayersOptions } from "./written-layers-options.js";
import { restoring, touchedBy, updateOf, wholeOf } from "./written-update.js";

/** How much longer writers that meet again and again wait with each try, at most, in milliseconds. */
const moreWaitMs = 2;

/**
 * Layers that programs and people write while the server runs. The store is the truth: a change is durable before it is
 * served, and before its writer hears of it. After a restart the layers have what they had. What another server of the
 * store writes is served as soon as the store tells of it.
 *
 * Resources may belong to a lease: they go when nobody renews it in its time. After a restart each lease has its whole
 * time again.
 */
export class WrittenLayers implements Source {
  readonly name = "written layers";
  readonly layers: readonly LayerName[];
  readonly store: Store;
  readonly #options: WrittenLayersOptions;
  readonly #queue = new Queue();
  readonly #heads: LayerHeads;
  readonly #follower: StoreFollower;
  readonly #leases: LeaseBook;
  readonly #takeBacks: TakeBacks;
  readonly #retaining: Retaining;
  #loaded: readonly LayerUpdate[] = [];

  /** Reads what the layers had last. Rejects if the store cannot be read. */
  static async open(options: WrittenLayersOptions): Promise<WrittenLayers> {
    const written = new WrittenLayers(options);
    written.#loaded = await written.#heads.load();
    return written;
  }

  private constructor(options: WrittenLayersOptions) {
    const { layers, store, clock = systemClock } = options;
    this.#options = options;
    this.#retaining = new Retaining(options);
    this.layers = layers;
    this.store = store;
    const run = <T>(task: () => Promise<T>) => this.#queue.run(task);
    const common = { ...options, clock, run, shared: store.shared };
    this.#leases = new LeaseBook({
      ...common,
      end: (layer, ids) => this.#write(layer, () => this.#leases.ending(layer, ids)),
      failed: (names, error) => this.#problem(error, `${names} cannot end now: `),
    });
    const problem = (error: unknown) => this.#problem(error);
    this.#heads = new LayerHeads({ ...options, leases: this.#leases, problem });
    this.#follower = new StoreFollower({
      store,
      queue: this.#queue,
      onAway: options.onAway,
      // What was refused is not served. Once it is taken back, what the store has instead is known.
      follow: (heads) => this.#heads.followNewer(heads.filter(({ layer }) => !this.#takeBacks.isWaiting(layer))),
      goBack: (heads) => this.#heads.goBack(heads),
    });
    this.#takeBacks = new TakeBacks({
      ...common,
      committed: (heads) => {
        for (const head of heads) if (head !== undefined) this.#heads.set(head.layer, head);
      },
      follow: (layer, head) => this.#heads.adopt(layer, head),
      failed: (error) => options.onProblem([takeBackFailed((error as Error).message)]),
    });
  }

  /** Waits for the newest state of the store, since clients that come may have it; but not for a store that is slow. */
  async start(sink: SourceSink): Promise<void> {
    this.#heads.sink = sink;
    if (this.#options.trouble !== undefined) sink.incomplete?.(this.#options.trouble);
    const updates = this.#loaded;
    this.#loaded = [];
    if (updates.length > 0) sink.apply(updates);
    this.#leases.start();
    await inTime(() => this.#follower.start());
    // A layer without resources must not cost anything.
    if (this.#served().length === 0) return;
    await this.#options.others?.().catch(() => {});
    // In its turn: nothing changes meanwhile.
    await inTime((late) =>
      this.#queue
        .run(() => this.#resume(sink, late))
        .catch((error) => {
          if (!this.#queue.isClosed) this.#problem(error);
        }),
    );
  }

  /** Says what the layers had before: clients may come back with that. */
  async #resume(sink: SourceSink, late: AbortSignal): Promise<void> {
    if (sink.resume === undefined || late.aborted) return;
    const steps = await stepsBack(
      this.store,
      this.#served(),
      this.#options,
      late,
      Date.now() - (sink.rememberedMs ?? 0),
    );
    if (steps.length > 0 && !late.aborted) sink.resume(steps);
  }

  /** The content of their heads, of layers that have one. */
  #served(): readonly LayerUpdate[] {
    return this.#heads.layers.flatMap((layer): readonly LayerUpdate[] => {
      const upsert = resourcesOfLayer(this.#options.server.layerSnapshot(layer));
      return upsert.length === 0 ? [] : [{ layer, kind: "replace", upsert }];
    });
  }

  /** Reads the store, and serves what is newer there: its watch may be late. Rejects if the store cannot be read. */
  catchUp(): Promise<void> | undefined {
    if (this.#options.isAlone?.() === true) return undefined;
    return this.layers.length === 0 ? Promise.resolve() : this.#follower.catchUp();
  }

  /** Since when the store cannot be read, and why; undefined: it can. What is served stays meanwhile. */
  get away(): StoreAway | undefined {
    return this.#follower.away;
  }

  /** Waits for changes that are under way, and for the removal of old history. */
  async close(): Promise<void> {
    this.#follower.close();
    await this.#leases.close();
    const finished = this.#takeBacks.close();
    await this.#queue.close();
    await finished;
    await this.#retaining.close();
  }

  /** All leases that there are. */
  get leases(): readonly Lease[] {
    return this.#leases.all;
  }

  /** A lease, and how many milliseconds it has left here; undefined: it is over, or never was. */
  lease(id: string): (Lease & { readonly leftMs: number }) | undefined {
    return this.#leases.get(id);
  }

  /**
   * Gives a lease its whole time again. Resolves once the other servers of the store know, or know enough not to end it
   * soon. Rejects with XDSKIT_LEASE_UNKNOWN if it is over, and with XDSKIT_STORE if they cannot be told. If its end is
   * being written, it waits for its turn, and rejects with XDSKIT_BUSY if too many changes wait, and with
   * XDSKIT_SERVER_CLOSED after `close`: then it is not known whether it was renewed.
   */
  renewLease(id: string): Promise<Lease> {
    return this.#leases.renew(id);
  }

  /** Gives every lease its whole time: another server of the store, which may have known of renewals, is gone. */
  restartLeases(): void {
    this.#leases.restart();
  }

  /** Removes what a lease holds. Rejects as `write` does: then it is tried again later. */
  async endLease(id: string): Promise<LayerWritten> {
    const { layer } = this.#leases.finish(id);
    try {
      return await this.#queue.run(() => this.#write(layer, () => this.#leases.ending(layer, [id])));
    } catch (error) {
      this.#leases.stay([id], error);
      throw error;
    }
  }

  /** The newest revision of a layer; undefined: there is none. */
  head(layer: LayerName): Revision | undefined {
    return this.#heads.of(layer);
  }

  /**
   * Makes a change, whole or not at all. Rejects with an XdskitError: what the server refuses, what the condition
   * throws, and XDSKIT_STORE if it cannot be kept.
   */
  write(write: LayerWrite): Promise<LayerWritten> {
    return this.#queue.run(() => this.#write(write.layer, () => write));
  }

  /**
   * Gives a layer its content at a revision; makes it empty if that is undefined. Rejects as `write` does, and with
   * XDSKIT_REVISION_UNKNOWN.
   */
  async rollBack(
    layer: LayerName,
    to: RevisionId | undefined,
    rest: Pick<LayerWrite, "expected" | "condition" | "info">,
  ): Promise<LayerWritten> {
    const upsert = to === undefined ? [] : await this.#heads.contents(to);
    return await this.write({ layer, upsert, remove: [], replace: true, ...rest });
  }

  /** `asked` says anew at each try what to write. */
  async #write(layer: LayerName, asked: () => LayerWrite): Promise<LayerWritten> {
    const leases = this.#leases.of(layer);
    this.#follower.refuseIfAway();
    await this.#takeBacks.finish(layer);
    let lease: Pick<Lease, "id" | "ttlMs"> | undefined;
    for (let tries = 0; tries < maxConflicts; tries += 1) {
      const head = this.#heads.of(layer);
      const write = asked();
      const { expected, condition, info } = write;
      if (expected !== undefined && (head?.id ?? null) !== expected) return { kind: "conflict", head };
      lease ??= this.#leases.wanted(leases, write.lease);
      condition?.();
      const now = this.#options.server.layerSnapshot(layer);
      const update = updateOf(write, now);
      throwIfAny(this.#options.server.checkChange([update]));
      const leased = leases.plan(...touchedBy(write, update, now, leases), lease);
      // A store that lost the layer gets what is left of it.
      if (head === undefined && update.upsert.length === 0 && resourcesOfLayer(now).length === 0)
        return { kind: "written", head, isNew: false };
      const commits = [
        commitOf(head === undefined ? wholeOf(update, now) : update, head),
        ...(leased.size === 0 ? [] : [leases.commitOf(leased)]),
      ];
      const back = leased.size === 0 ? undefined : leases.commitOf(leases.reverse(leased));
      const result = await this.store.commit(commits, info);
      if (result.kind === "conflict") {
        await this.#heads.adopt(result.layer, result.head);
        await delay(Math.random() * tries * moreWaitMs);
        continue;
      }
      const written = await this.#serve(update, head, result.heads, back);
      this.#leases.take(leases, leased, result.heads[1], lease?.id);
      return { ...written, lease: lease && leases.get(lease.id) };
    }
    throw XdskitError.of("XDSKIT_STORE", `another writer was faster ${maxConflicts} times: nothing was changed`);
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
      this.#heads.sink?.apply([update]);
    } catch (error) {
      this.#heads.set(update.layer, before);
      // Another layer has changed since it was checked. What is not served must not stand in the store.
      await this.#takeBack(head, released && { ...released, parent: leaseHead?.id });
      throw error;
    }
    this.#options.onRevision?.(head, true);
    this.#retaining.soon();
    return { kind: "written", head, isNew };
  }

  async #takeBack(head: Revision, leases: LayerCommit | undefined): Promise<void> {
    const cause = { kind: "rollback", to: head.parent ?? "" } as const;
    const info = { author: head.author, cause, message: "the server refused the change", time: Date.now() };
    const commit = restoring(this.#options.server.layerSnapshot(head.layer), head);
    await this.#takeBacks.add(head.layer, { info, commits: leases === undefined ? [commit] : [commit, leases] });
  }

  #problem(error: unknown, what = ""): void {
    this.#options.onProblem(storeFindings(error).map((finding) => ({ ...finding, message: what + finding.message })));
  }
}
