import { setTimeout as delay } from "node:timers/promises";
import {
  type Clock,
  type Finding,
  type Registry,
  type Resource,
  type ResourceTypes,
  systemClock,
  XdskitError,
} from "@xdskit/api";
import type { LayerWrite, LayerWritten, Lease } from "../../contracts/layer-writer.js";
import type { StoreWatch } from "../../contracts/shared-keys.js";
import type { LayerUpdate, Source, SourceSink } from "../../contracts/source.js";
import type { LayerCommit, Retention, Revision, RevisionId, Store, StoredResource } from "../../contracts/store.js";
import type { XdsServer } from "../../contracts/xds-server.js";
import type { LayerName } from "../../settings/group-settings.js";
import { followedSince } from "../basics/following.js";
import { heldBy } from "../basics/held-by.js";
import { inTime } from "../basics/in-time.js";
import { Queue } from "../basics/queue.js";
import { refuse } from "../basics/refuse.js";
import { retentionNow } from "../basics/retention-now.js";
import { stepsBack } from "../basics/steps-back.js";
import { storeFinding, storeFindings } from "../basics/store-finding.js";
import { decodeStored } from "../basics/stored-content.js";
import { watchHeads } from "../basics/watch-heads.js";
import { wentBackFinding, whatWentBack } from "../basics/went-back.js";
import { LeaseBook, type TimeLeft } from "../leases/lease-book.js";
import { TakeBacks, takeBackFailed } from "./take-backs.js";
import { commitOf, restoring, touchedBy, updateOf, wholeOf } from "./written-update.js";

/** The options of written layers. */
export interface WrittenLayersOptions {
  /** The layers, which no source fills. */
  readonly layers: readonly LayerName[];
  readonly store: Store;
  /** What the layers hold is asked here, and whether a change can be applied. */
  readonly server: Pick<XdsServer, "layerSnapshot" | "checkChange">;
  readonly registry: Registry;
  readonly types: ResourceTypes;
  /** A function says it anew after each change. */
  readonly retention: Retention | (() => Retention);
  /** A new revision is durable and served. `isOwn`: it was written here, and not by another server of the store. */
  readonly onRevision?: ((revision: Revision, isOwn: boolean) => void) | undefined;
  /** What is wrong with the store since the start, if it is not all that it should be: told to the server's status. */
  readonly trouble?: Finding | undefined;
  /** For leases. Default: the system's. */
  readonly clock?: Clock | undefined;
  /** Asked before leases end: another server may have renewed them. Undefined: there is no other one. */
  readonly timeLeft?: TimeLeft | undefined;
  /**
   * Resolves once the other sources have applied what they have: clients that come back had it beside these layers.
   * Undefined: there are none.
   */
  readonly others?: (() => Promise<unknown>) | undefined;
  /** What of the store cannot be read any more, or cleaned up; what cannot be removed although its lease is over. */
  readonly onProblem: (findings: readonly Finding[]) => void;
  /** The store cannot be read, with the reason; undefined: it can again. What is served stays meanwhile. */
  readonly onAway?: ((finding: Finding | undefined) => void) | undefined;
}

/** A store that cannot be read. */
export interface StoreAway {
  /** In milliseconds since 1970. */
  readonly since: number;
  readonly finding: Finding;
}

/** How often another process may move a head in between, before a change is given up. */
const mostConflicts = 30;

/** After so many milliseconds it is tried again to read what others wrote. */
const retryMs = 1_000;

/** How much longer writers that meet again and again wait with each try, at most, in milliseconds. */
const moreWaitMs = 2;

/** The most writers that may wait. */
const mostWaiting = 1_000;

/** The watch may tell of a head from before the last write here. */
function isNewer(head: Revision, known: Revision | undefined): boolean {
  return head.number > (known?.number ?? 0);
}

/**
 * Layers that programs and people write while the server runs. The store is the truth: a change is durable before it is
 * served, and before its writer hears of it. After a restart the layers have what they had. What another server of the
 * store writes is served as soon as the store tells of it.
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
  /** Layers whose changes by others could not be served. They are read as a whole next time. */
  readonly #torn = new Set<LayerName>();
  readonly #leases: LeaseBook;
  readonly #takeBacks: TakeBacks;
  #loaded: readonly LayerUpdate[] = [];
  #sink: SourceSink | undefined;
  #watch: StoreWatch | undefined;
  #away: StoreAway | undefined;
  /** Since when what others wrote cannot be read, although the store tells of it. */
  #behind: StoreAway | undefined;
  #lastCatchUp: Promise<void> = Promise.resolve();
  /** The catch-up that has not begun yet. */
  #nextCatchUp: Promise<void> | undefined;
  /** The heads that the store told last, until they are followed. */
  #moved: readonly Revision[] | undefined;
  #hearing: Promise<void> | undefined;

  constructor(options: WrittenLayersOptions) {
    const { layers, store, types, clock = systemClock, timeLeft } = options;
    this.#options = options;
    this.layers = layers;
    this.store = store;
    const run = <T>(task: () => Promise<T>) => this.#queue.run(task);
    this.#leases = new LeaseBook({
      ...{ layers, types, clock, run, timeLeft, shared: store.shared },
      end: (layer, ids) => this.#write(layer, () => this.#leases.ending(layer, ids)),
      failed: (names, error) => this.#problem(error, `${names} cannot end now: `),
    });
    this.#takeBacks = new TakeBacks({
      ...{ store, clock, run },
      committed: (heads) => this.#takenBack(heads),
      follow: (layer, head) => this.#adopt(layer, head),
      failed: (error) => options.onProblem([takeBackFailed((error as Error).message)]),
    });
  }

  /** Reads what the layers held last. Rejects if the store cannot be read. */
  async load(): Promise<void> {
    const heads = await this.store.heads();
    const updates: LayerUpdate[] = [];
    for (const head of heads) {
      const leases = this.#leases.keptIn(head.layer);
      if (leases !== undefined) leases.load(head, await this.store.read(head.id));
      if (!this.layers.includes(head.layer)) continue;
      this.#heads.set(head.layer, head);
      const upsert = this.#decoded(await this.store.read(head.id));
      // A layer without resources must not cost anything.
      if (upsert.length > 0) updates.push({ layer: head.layer, kind: "replace", upsert });
    }
    this.#loaded = updates;
  }

  /** Waits for the newest state of the store, since clients that come may have it; but not for a store that is slow. */
  async start(sink: SourceSink): Promise<void> {
    this.#sink = sink;
    const { trouble } = this.#options;
    if (trouble !== undefined) sink.incomplete?.(trouble);
    const updates = this.#loaded;
    this.#loaded = [];
    if (updates.length > 0) sink.apply(updates);
    this.#leases.start();
    await inTime(() => this.#follows());
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

  /** Resolves once what the store told first is served, or once it says that it is away. */
  #follows(): Promise<void> {
    const { watch, first } = watchHeads(this.store, {
      take: async (heads) => {
        if (this.#away !== undefined) this.#options.onAway?.(undefined);
        this.#away = undefined;
        await this.#hear(heads);
      },
      away: (finding) => {
        this.#away = { since: this.#away?.since ?? Date.now(), finding };
        this.#options.onAway?.(finding);
      },
    });
    this.#watch = watch;
    return first;
  }

  /** Says what the layers held before: clients may come back with that. */
  async #resume(sink: SourceSink, late: AbortSignal): Promise<void> {
    if (sink.resume === undefined || late.aborted) return;
    const steps = await stepsBack(this.store, this.#served(), this.#options, late);
    if (steps.length > 0 && !late.aborted) sink.resume(steps);
  }

  /** The content of their heads, of layers that have one. */
  #served(): readonly LayerUpdate[] {
    return [...this.#heads.keys()].flatMap((layer): readonly LayerUpdate[] => {
      const upsert = heldBy(this.#options.server.layerSnapshot(layer));
      return upsert.length === 0 ? [] : [{ layer, kind: "replace", upsert }];
    });
  }

  /** Reads the store, and serves what is newer there: its watch may be late. Rejects if the store cannot be read. */
  catchUp(): Promise<void> {
    this.#nextCatchUp ??= this.#lastCatchUp.then(async () => {
      // A read that has begun may miss what is written from now on.
      this.#nextCatchUp = undefined;
      const reading = this.#readNewer();
      this.#lastCatchUp = reading.catch(() => {});
      await reading;
    });
    return this.#nextCatchUp;
  }

  async #readNewer(): Promise<void> {
    if (this.layers.length === 0) return;
    // The copy of a store that is away would not tell.
    if (this.#away !== undefined) throw new XdskitError([this.#away.finding]);
    const heads = await this.store.heads();
    await this.#queue.run(() => this.#follow(heads, isNewer));
  }

  /** Since when the store cannot be read, and why; undefined: it can. What is served stays meanwhile. */
  get away(): StoreAway | undefined {
    return this.#away ?? this.#behind;
  }

  /** Waits for changes that are under way. */
  async close(): Promise<void> {
    this.#watch?.close();
    await this.#leases.close();
    const settled = this.#takeBacks.close();
    await this.#queue.close();
    await settled;
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
   * soon. Rejects with XDSKIT_LEASE_UNKNOWN if it is over, and with XDSKIT_STORE if they cannot be told.
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
   * Gives a layer its content at a revision; makes it empty if that is undefined. Rejects as `write` does, and with
   * XDSKIT_REVISION_UNKNOWN.
   */
  async rollBack(
    layer: LayerName,
    to: RevisionId | undefined,
    rest: Pick<LayerWrite, "expected" | "condition" | "info">,
  ): Promise<LayerWritten> {
    const upsert = to === undefined ? [] : this.#decoded(await this.store.read(to));
    return await this.write({ layer, upsert, remove: [], replace: true, ...rest });
  }

  /** `asked` says anew at each try what to write. */
  async #write(layer: LayerName, asked: () => LayerWrite): Promise<LayerWritten> {
    const leases = this.#leases.of(layer);
    // Nobody waits until every member of a store has failed to answer.
    if (this.#away !== undefined) throw new XdskitError([this.#away.finding]);
    await this.#takeBacks.settle(layer);
    let lease: Pick<Lease, "id" | "ttlMs"> | undefined;
    for (let tries = 0; tries < mostConflicts; tries += 1) {
      const head = this.#heads.get(layer);
      const write = asked();
      const { expected, condition, info } = write;
      if (expected !== undefined && (head?.id ?? null) !== expected) return { kind: "conflict", head };
      lease ??= this.#leases.wanted(leases, write.lease);
      condition?.();
      const now = this.#options.server.layerSnapshot(layer);
      const update = updateOf(write, now);
      refuse(this.#options.server.checkChange([update]));
      const leased = leases.plan(...touchedBy(write, update, now, leases), lease);
      // A store that lost the layer gets what is left of it.
      if (head === undefined && update.upsert.length === 0 && heldBy(now).length === 0)
        return { kind: "written", head, isNew: false };
      const commits = [
        commitOf(head === undefined ? wholeOf(update, now) : update, head),
        ...(leased.size === 0 ? [] : [leases.commitOf(leased)]),
      ];
      const back = leased.size === 0 ? undefined : leases.commitOf(leases.reverse(leased));
      const result = await this.store.commit(commits, info);
      if (result.kind === "conflict") {
        await this.#adopt(result.layer, result.head);
        await delay(Math.random() * tries * moreWaitMs);
        continue;
      }
      const written = await this.#serve(update, head, result.heads, back);
      this.#leases.take(leases, leased, result.heads[1], lease?.id);
      return { ...written, lease: lease && leases.get(lease.id) };
    }
    throw XdskitError.of("XDSKIT_STORE", `another writer was faster ${mostConflicts} times: nothing was changed`);
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
      await this.#takeBack(head, released && { ...released, parent: leaseHead?.id });
      throw error;
    }
    this.#options.onRevision?.(head, true);
    await this.store.retain(retentionNow(this.#options)).catch((error) => this.#problem(error));
    return { kind: "written", head, isNew };
  }

  async #takeBack(head: Revision, leases: LayerCommit | undefined): Promise<void> {
    const cause = { kind: "rollback", to: head.parent ?? "" } as const;
    const info = { author: head.author, cause, message: "the server refused the change", time: Date.now() };
    const commit = restoring(this.#options.server.layerSnapshot(head.layer), head);
    await this.#takeBacks.add(head.layer, { info, commits: leases === undefined ? [commit] : [commit, leases] });
  }

  #takenBack(heads: readonly (Revision | undefined)[]): void {
    for (const head of heads) {
      if (head === undefined) continue;
      const leases = this.#leases.keptIn(head.layer);
      if (leases === undefined) this.#heads.set(head.layer, head);
      else leases.head = head;
    }
  }

  /** The store tells of its heads: what others wrote is served in its turn. Resolves once it is. */
  #hear(heads: readonly Revision[]): Promise<void> {
    this.#moved = heads;
    this.#hearing ??= this.#followMoved();
    return this.#hearing;
  }

  /** What cannot be read now is read later: the store may not tell of it again. */
  async #followMoved(): Promise<void> {
    const look = async () => {
      const moved = this.#moved ?? [];
      await this.#follow(moved, isNewer);
      await this.#goBack(moved);
      if (this.#moved === moved) this.#moved = undefined;
    };
    while (this.#moved !== undefined && !this.#queue.isClosed) {
      try {
        await this.#queue.run(look);
        if (this.#behind !== undefined) this.#options.onAway?.(undefined);
        this.#behind = undefined;
      } catch (error) {
        if (this.#queue.isClosed) break;
        this.#isBehind(error);
        await delay(retryMs, undefined, { ref: false });
      }
    }
    // In the same turn as the last look: heads that are told later begin a new one.
    this.#hearing = undefined;
  }

  /** Said once, until it is over. */
  #isBehind(error: unknown): void {
    const finding = storeFinding(error);
    // Too many writers wait: the store is there.
    if (this.#behind !== undefined || finding.code === "XDSKIT_BUSY") return;
    this.#behind = { since: Date.now(), finding };
    this.#options.onAway?.(finding);
  }

  /** A store that was restored from a backup has older heads. What it has now is served. */
  async #goBack(moved: readonly Revision[]): Promise<void> {
    const ofLeases = this.layers.flatMap((layer) => this.#leases.of(layer).head ?? []);
    const back = await whatWentBack(this.store, [...this.#heads.values(), ...ofLeases], moved);
    for (const one of back) {
      if (this.layers.includes(one.layer)) this.#options.onProblem([wentBackFinding(one)]);
      await this.#adopt(one.layer, one.head);
    }
  }

  /** The store was asked and has this head, whatever was known of it: also where it is none, or an older one. */
  async #adopt(layer: LayerName, head: Revision | undefined): Promise<void> {
    if (head !== undefined) return this.#follow([head], (found, known) => found.id !== known?.id);
    const leases = this.#leases.keptIn(layer);
    if (leases === undefined) this.#heads.delete(layer);
    else this.#leases.load(leases, undefined, []);
  }

  /** Another server has changed layers, or their leases, in the same store. */
  async #follow(
    heads: readonly Revision[],
    isNew: (head: Revision, known: Revision | undefined) => boolean,
  ): Promise<void> {
    const updates: LayerUpdate[] = [];
    const followed: Revision[] = [];
    for (const head of heads) {
      const leases = this.#leases.keptIn(head.layer);
      if (leases !== undefined && isNew(head, leases.head))
        this.#leases.load(leases, head, await this.store.read(head.id));
      const known = this.#heads.get(head.layer);
      if (!this.layers.includes(head.layer) || !isNew(head, known)) continue;
      const { layer, kind, upsert, remove, revisions } = await followedSince(
        this.store,
        this.#torn.has(head.layer) ? undefined : known,
        head,
      );
      updates.push({ layer, kind, upsert: this.#decoded(upsert), remove: this.#known(remove) });
      followed.push(...revisions);
    }
    for (const { layer } of updates) {
      const head = heads.find((one) => one.layer === layer);
      if (head !== undefined) this.#heads.set(layer, head);
    }
    if (updates.length === 0) return;
    try {
      // It was judged where it was written. If it were refused here, nobody could change the layer any more.
      this.#sink?.apply(updates, { isJudged: false });
      for (const { layer } of updates) this.#torn.delete(layer);
    } catch (error) {
      for (const { layer } of updates) this.#torn.add(layer);
      this.#problem(error);
    }
    for (const revision of followed) this.#options.onRevision?.(revision, false);
  }

  /** A resource whose type the server does not know any more is left out, and told. */
  #decoded(stored: readonly StoredResource[]): readonly Resource[] {
    const found: Resource[] = [];
    for (const one of stored) {
      try {
        found.push(decodeStored(one, this.#options));
      } catch (error) {
        this.#problem(error);
      }
    }
    return found;
  }

  /** Without those whose type the server does not know: it has none of them. */
  #known(keys: readonly { readonly type: string; readonly key: string }[]): NonNullable<LayerUpdate["remove"]> {
    return keys.flatMap(({ type, key }) => {
      const found = this.#options.types.byTypeUrl(type);
      return found === undefined ? [] : [{ type: found.type, name: key }];
    });
  }

  #problem(error: unknown, what = ""): void {
    this.#options.onProblem(storeFindings(error).map((finding) => ({ ...finding, message: what + finding.message })));
  }
}
