import { setTimeout as delay, setImmediate as nextTurn } from "node:timers/promises";
import { type Finding, type Registry, type ResourceTypes, XdskitError } from "@xdskit/api";
import type { LayerWrite, LayerWritten } from "../../contracts/layer-writer.js";
import type { StoreWatch } from "../../contracts/shared-keys.js";
import type { LayerUpdate, RolledBack, Source, SourceSink } from "../../contracts/source.js";
import type {
  CommitInfo,
  LayerCommit,
  Retention,
  Revision,
  RevisionId,
  Store,
  StoredResource,
} from "../../contracts/store.js";
import type { XdsServer } from "../../contracts/xds-server.js";
import type { LayerName } from "../../settings/group-settings.js";
import { heldBy } from "../basics/held-by.js";
import { inTime } from "../basics/in-time.js";
import { mergedUpdates } from "../basics/merged-updates.js";
import { Queue } from "../basics/queue.js";
import { refuse } from "../basics/refuse.js";
import { retentionNow } from "../basics/retention-now.js";
import { stepsBack } from "../basics/steps-back.js";
import { storeFindings } from "../basics/store-finding.js";
import { decodeStored, encodeStored } from "../basics/stored-content.js";
import { watchHeads } from "../basics/watch-heads.js";
import { type WentBack, WentBackLooks, wentBackFinding } from "../basics/went-back.js";
import { ownBefore, Rollbacks, rolledBackBy } from "./rollbacks.js";
import { ToldRevisions } from "./told-revisions.js";

/** The options of a kept source. */
export interface KeptSourceOptions {
  /** A folder needs `waits`: a source that rejects at the start has nothing kept served. */
  readonly source: Source;
  readonly store: Store;
  /** The layers that the source fills, and no other writer of the store. */
  readonly layers: readonly LayerName[];
  readonly registry: Registry;
  readonly types: ResourceTypes;
  /** A function says it anew after each change. */
  readonly retention: Retention | (() => Retention);
  /** Whether a source with errors at the start has its last good revision served. Default true. */
  readonly restores?: boolean | undefined;
  /**
   * Says what the revision of the newest change will say; called soon after the change was applied. Undefined: what is
   * served is no good configuration, and waits for the next change.
   */
  readonly describe: () => CommitInfo | undefined;
  /** What is served of a layer now. A store that was restored from a backup is given that again. */
  readonly served?: XdsServer["layerSnapshot"] | undefined;
  /** The source has errors at the start: these revisions are served until it is valid. */
  readonly onRestored?: ((revisions: readonly Revision[]) => void) | undefined;
  /** The reasons for which the server would refuse a change (`checkChange`). A rollback asks before it is kept. */
  readonly check?: ((updates: readonly LayerUpdate[]) => readonly Finding[]) | undefined;
  /** A new revision of its layers is in the store, whichever server of the store has written it. */
  readonly onRevision?: ((revision: Revision) => void) | undefined;
  /** Other layers serve an older revision now: after a rollback, and when the source has changed a layer since. */
  readonly onRolledBack?: ((rolledBack: readonly RolledBack[]) => void) | undefined;
  /** Reports what the store cannot read or write. The source goes on without. Empty: it can be written again. */
  readonly onProblem: (findings: readonly Finding[]) => void;
}

/** The terms of a rollback. `condition` may throw in the rollback's turn, which prevents it. */
export type RollbackTerms = Pick<LayerWrite, "expected" | "condition" | "info">;

/** How long after a failed write it is tried again, in milliseconds. */
const retryMs = 5_000;

/** How long after another server's rollback could not be read it is tried again, in milliseconds. */
const followAgainMs = 1_000;

/** The most rollbacks that may wait. */
const mostRollbacks = 100;

/** How often another writer may move a head in between, before the revision is given up. */
const mostConflicts = 10;

/**
 * Keeps what a source brings into the server in a store, and brings the last good revision back where the source has
 * errors at the start: all of it, with nothing of the source mixed in. The store is beside the path: a change is served
 * at once, and its revision is written afterwards. Changes that come faster than they are written share a revision.
 */
export class KeptSource implements Source {
  readonly name: string;
  /** Undefined if the source cannot be asked to try again. */
  readonly retry?: () => void;
  readonly #options: KeptSourceOptions;
  /** The source's own content was applied. */
  #isLive = false;
  #isRestoring = false;
  #isClosing = false;
  /** Another source takes the place of this one. */
  #isPaused = false;
  /** The last commit failed. */
  #hasProblem = false;
  #retry: NodeJS.Timeout | undefined;
  /** The first applied content, until another one is applied. */
  #first: readonly LayerUpdate[] | undefined;
  /** The changes that are not written yet. */
  #pending: readonly LayerUpdate[] = [];
  #writing: Promise<void> | undefined;
  readonly #rollbacks = new Rollbacks();
  readonly #rollbackQueue = new Queue(mostRollbacks);
  /** Rollbacks by other servers that are not served here yet. */
  readonly #following = new Set<RevisionId>();
  #sink: SourceSink | undefined;
  #watch: StoreWatch | undefined;
  readonly #looks: WentBackLooks;
  readonly #revisions: ToldRevisions;
  /** Counts the changes of the source. */
  #changes = 0;

  constructor(options: KeptSourceOptions) {
    const { source } = options;
    this.name = source.name;
    if (source.retry !== undefined) this.retry = () => source.retry?.();
    this.#options = options;
    this.#revisions = new ToldRevisions(options.store, (revision) => options.onRevision?.(revision));
    this.#looks = new WentBackLooks(options.store, {
      back: (layers) => this.#keepAgain(layers),
      failed: (error) => options.onProblem(storeFindings(error)),
    });
  }

  /**
   * Finds the rollbacks that held when the server stopped. Call it before the source is started, or they end with the
   * restart.
   */
  async load(): Promise<void> {
    const { store, layers, onProblem } = this.#options;
    try {
      const heads = (await store.heads()).filter(({ layer }) => layers.includes(layer));
      await this.#rollbacks.remember(store, heads, (stored) => decodeStored(stored, this.#options));
    } catch (error) {
      onProblem(storeFindings(error));
    }
  }

  async start(sink: SourceSink): Promise<void> {
    this.#sink = sink;
    // Asked for before the source brings the first content.
    const hadHead = this.#hasHead();
    let restored: () => void = () => {};
    const isRestored = new Promise<void>((resolve) => {
      restored = resolve;
    });
    const begun = this.#options.source.start({
      apply: (updates) => this.#apply(updates, sink),
      report: (findings) => {
        sink.report(findings);
        const hasErrors = findings.some(({ severity }) => severity === "error");
        // A bad configuration may be good now, without a change.
        if (this.#isLive && !hasErrors) this.#keep([]);
        if (this.#isLive || this.#isRestoring || !hasErrors || this.#options.restores === false) return;
        this.#isRestoring = true;
        void this.#restore(sink).then((isServed) => {
          if (isServed) restored();
        });
      },
    });
    await Promise.race([begun, isRestored]);
    if (this.#isLive) await this.#resumeInTime(sink, await hadHead);
    if (!this.#isClosing) await inTime(() => this.#follows());
    // Where something is served already, the server goes on although the source's own start failed.
    begun.catch((error) => {
      if (!this.#isClosing) this.#options.onProblem(storeFindings(error));
    });
  }

  /** Resolves once what the store told first is served, or once it says that it is away. */
  #follows(): Promise<void> {
    const { watch, first } = watchHeads(this.#options.store, { take: (heads) => this.#hear(heads), away: () => {} });
    this.#watch = watch;
    return first;
  }

  /** The layers that serve an older revision until the source changes them. */
  get rolledBack(): readonly RolledBack[] {
    return this.#rollbacks.active;
  }

  /**
   * Serves an older revision of a layer at once, and makes it the newest one. It holds until the source changes the
   * layer, also across restarts. Rejects with XDSKIT_REVISION_UNKNOWN, with what the server refuses, and with
   * XDSKIT_STORE if it cannot be kept: then nothing is changed.
   */
  rollBack(layer: LayerName, to: RevisionId, rest: RollbackTerms): Promise<LayerWritten> {
    return this.#rollbackQueue.run(async () => {
      if (this.#isPaused)
        throw XdskitError.of("XDSKIT_BUSY", "the settings of this layer are changing now: try again in a moment");
      try {
        return await this.#rollBack(layer, to, rest);
      } finally {
        this.#keep([]);
      }
    });
  }

  /**
   * Writes what must be written, and then nothing more until `goOn`: another source is to take the place of this one,
   * and its revisions must come after those of this one. Rollbacks reject with XDSKIT_BUSY meanwhile.
   */
  async pause(): Promise<void> {
    await this.#rollbackQueue.run(async () => {
      this.#keep([]);
      await this.#writing;
      this.#isPaused = true;
    });
  }

  /** Nothing took its place: what changed meanwhile is written. */
  goOn(): void {
    this.#isPaused = false;
    this.#keep([]);
  }

  /** Waits for what must still be written. One that is paused writes nothing more. */
  async close(): Promise<void> {
    this.#isClosing = true;
    clearTimeout(this.#retry);
    this.#watch?.close();
    this.#looks.close();
    await this.#rollbackQueue.close();
    await this.#options.source.close();
    this.#keep([]);
    await this.#writing;
  }

  #apply(updates: readonly LayerUpdate[], sink: SourceSink): void {
    const served = this.#rollbacks.served(updates);
    sink.apply(served);
    this.#changes += 1;
    this.#first = this.#isLive ? undefined : served;
    this.#isLive = true;
    if (this.#rollbacks.applied(updates)) this.#rolledBackNow();
    this.#keep(served);
  }

  async #rollBack(
    layer: LayerName,
    to: RevisionId,
    { expected, condition, info }: RollbackTerms,
  ): Promise<LayerWritten> {
    const { store, check } = this.#options;
    const contents = async (id: RevisionId) =>
      (await store.read(id)).map((stored) => decodeStored(stored, this.#options));
    const upsert = await contents(to);
    await this.#writing;
    if (this.#pending.length > 0)
      throw XdskitError.of("XDSKIT_STORE", "the newest change is not kept yet: there is nothing to come back to");
    const changes = this.#changes;
    const head = await store.head(layer);
    if (expected !== undefined && (head?.id ?? null) !== expected) return { kind: "conflict", head };
    const own = this.#rollbacks.ownOf(layer) ?? (head === undefined ? [] : await contents(head.id));
    if (this.#changes !== changes || this.#writing !== undefined) return { kind: "conflict", head };
    condition?.();
    const update = { layer, kind: "replace", upsert } as const;
    refuse(check?.([update]) ?? []);
    let done: () => void = () => {};
    // Nothing else is written meanwhile.
    this.#writing = new Promise((resolve) => {
      done = resolve;
    });
    try {
      const commit = { layer, kind: "replace", upsert: upsert.map(encodeStored), parent: head?.id } as const;
      const result = await store.commit([commit], info);
      if (result.kind === "conflict") return result;
      const [made] = result.heads;
      if (made === undefined || made.id === head?.id) return { kind: "written", head: made, isNew: false };
      if (this.#changes !== changes) {
        // The source was faster. What it has is served, and becomes the newest revision. This one stays in history.
        this.#revisions.tell(made);
        this.#rollbacks.end(layer);
        this.#pending = mergedUpdates([{ layer, kind: "replace", upsert: own }], this.#pending);
        return { kind: "conflict", head: made };
      }
      this.#pending = [{ layer, kind: "replace", upsert: own }];
      this.#sink?.apply([update]);
      this.#pending = [];
      this.#revisions.tell(made);
      this.#rollbacks.begin({ layer, revision: made.id, to, time: made.time }, own);
      this.#rolledBackNow();
      return { kind: "written", head: made, isNew: true };
    } finally {
      this.#writing = undefined;
      done();
    }
  }

  /**
   * Another server of the store may have rolled a layer back: then it is served here, too. Resolves once it is, and
   * once what others have made is told.
   */
  async #hear(heads: readonly Revision[]): Promise<void> {
    const own = heads.filter(({ layer }) => this.#options.layers.includes(layer));
    this.#looks.moved(own);
    await Promise.all([...own.map((head) => this.#followInTurn(head)), this.#revisions.hear(own)]);
  }

  /** A rollback that cannot be read now is read later: the store may not tell of it again. */
  async #followInTurn(head: Revision): Promise<void> {
    const rolledBack = rolledBackBy(head);
    if (rolledBack === undefined || this.#following.has(head.id)) return;
    this.#following.add(head.id);
    for (let tries = 0; !this.#isClosing && !this.#rollbacks.knows(head.layer, head.id); tries += 1) {
      try {
        await this.#rollbackQueue.run(() => this.#followRollback(head, rolledBack));
        break;
      } catch (error) {
        if (this.#isClosing) break;
        if (tries === 0) this.#options.onProblem(storeFindings(error));
        await delay(followAgainMs, undefined, { ref: false });
      }
    }
    this.#following.delete(head.id);
  }

  /** A store that was restored from a backup does not have what is served. */
  #keepAgain(back: readonly WentBack[]): void {
    const { served, onProblem } = this.#options;
    if (served === undefined || !this.#isLive) return;
    onProblem(back.map(wentBackFinding));
    // It is over with the next commit.
    this.#hasProblem = true;
    this.#keep(back.map(({ layer }) => ({ layer, kind: "replace", upsert: heldBy(served(layer)) })));
  }

  async #followRollback(head: Revision, rolledBack: RolledBack): Promise<void> {
    const { store } = this.#options;
    // What is not kept yet comes first: if the source has changed since, that ends the rollback.
    this.#keep([]);
    await this.#writing;
    const changes = this.#changes;
    if (this.#isPaused || this.#rollbacks.knows(head.layer, head.id)) return;
    if ((await store.head(head.layer))?.id !== head.id) return;
    const own = await ownBefore(store, head);
    const upsert = (await store.read(head.id)).map((stored) => decodeStored(stored, this.#options));
    // The source has changed since: its next revision ends the rollback.
    if (own === undefined || this.#changes !== changes || this.#pending.length > 0) return;
    this.#sink?.apply([{ layer: head.layer, kind: "replace", upsert }], { isJudged: false });
    this.#rollbacks.begin(
      rolledBack,
      own.map((stored) => decodeStored(stored, this.#options)),
    );
    this.#revisions.tell(head);
    this.#rolledBackNow();
  }

  #rolledBackNow(): void {
    this.#sink?.rolledBack?.(this.rolledBack);
    this.#options.onRolledBack?.(this.rolledBack);
  }

  /**
   * Serves the heads. False: a layer has none, so that clients would lose its resources; the source was faster; or they
   * cannot be read.
   */
  async #restore(sink: SourceSink): Promise<boolean> {
    const { store, layers, onRestored, onProblem } = this.#options;
    try {
      const heads = (await store.heads()).filter(({ layer }) => layers.includes(layer));
      const updates: LayerUpdate[] = [];
      for (const { id, layer } of heads) {
        const upsert = (await store.read(id)).map((stored) => decodeStored(stored, this.#options));
        updates.push({ layer, kind: "replace", upsert });
      }
      if (this.#isLive || layers.some((layer) => !heads.some((head) => head.layer === layer))) return false;
      sink.apply(updates);
      onRestored?.(heads);
      return true;
    } catch (error) {
      onProblem(storeFindings(error));
      return false;
    }
  }

  /** False too where it cannot be read. */
  async #hasHead(): Promise<boolean> {
    const { store, layers } = this.#options;
    return await store.heads().then(
      (heads) => heads.some(({ layer }) => layers.includes(layer)),
      () => false,
    );
  }

  /** A start does not wait for a slow disk: clients then come back with the newest at once. */
  async #resumeInTime(sink: SourceSink, hadHead: boolean): Promise<void> {
    // There was nothing before.
    if (!hadHead) return;
    await inTime((late) => this.#resume(sink, late));
  }

  /**
   * Says what the source had when it was served before: where it has something else now, clients come back with that.
   * Nothing is said where the content changed again meanwhile, or the last good revision is served.
   */
  async #resume(sink: SourceSink, late: AbortSignal): Promise<void> {
    const { store, onProblem } = this.#options;
    await this.#writing;
    if (late.aborted) return;
    const first = this.#first;
    // Where it could not be kept, the heads are not what is served.
    if (sink.resume === undefined || first === undefined || this.#isRestoring || this.#pending.length > 0) return;
    try {
      const steps = await stepsBack(store, first, this.#options, late);
      if (steps.length > 0 && this.#first === first && !late.aborted) sink.resume(steps);
    } catch (error) {
      onProblem(storeFindings(error));
    }
  }

  #keep(updates: readonly LayerUpdate[]): void {
    this.#pending = mergedUpdates(this.#pending, updates);
    if (this.#pending.length > 0 && !this.#isPaused) this.#writing ??= this.#write();
  }

  async #write(): Promise<void> {
    const { store, describe, onProblem } = this.#options;
    // Not in the turn in which streams are told.
    await nextTurn();
    while (this.#pending.length > 0) {
      const updates = this.#pending;
      try {
        const info = describe();
        if (info === undefined) break;
        this.#pending = [];
        await this.#commit(updates, info);
        if (this.#hasProblem) onProblem([]);
        this.#hasProblem = false;
      } catch (error) {
        this.#hasProblem = true;
        onProblem(storeFindings(error));
        // Later changes must not be kept without this one.
        this.#pending = mergedUpdates(updates, this.#pending);
        if (!this.#isClosing) this.#retry = setTimeout(() => this.#keep([]), retryMs).unref();
        break;
      }
      await store.retain(retentionNow(this.#options)).catch((error) => onProblem(storeFindings(error)));
    }
    this.#writing = undefined;
  }

  async #commit(updates: readonly LayerUpdate[], info: CommitInfo): Promise<void> {
    const { store } = this.#options;
    const contents = updates.map(({ layer, kind, upsert, remove }) => ({
      ...{ layer, kind, upsert: upsert.map(encodeStored) },
      remove: remove?.map(({ type, name }) => ({ type: type.typeUrl, key: name })),
    }));
    const { ended } = this.#rollbacks;
    for (let tries = 0; tries < mostConflicts; tries += 1) {
      const commits: LayerCommit[] = [];
      for (const content of contents) {
        const head = await store.head(content.layer);
        if (head !== undefined && (await this.#isFromBefore(head, content))) {
          // A start did not know the rollback, because the store was away.
          void this.#followInTurn(head);
          continue;
        }
        // Another server of the store may have ended it.
        const always = ended.has(content.layer) && head?.cause.kind === "rollback";
        commits.push({ ...content, parent: head?.id, always });
      }
      if (commits.length === 0) return;
      const result = await store.commit(commits, info);
      if (result.kind !== "committed") continue;
      this.#rollbacks.endsKept(contents.map(({ layer }) => layer).filter((layer) => ended.has(layer)));
      for (const [index, { parent }] of commits.entries()) {
        const head = result.heads[index];
        if (head !== undefined && head.id !== parent) this.#revisions.tell(head);
      }
      return;
    }
    throw XdskitError.of("XDSKIT_STORE", `another writer was faster ${mostConflicts} times: a revision is missing`);
  }

  /** Whether a layer is rolled back at the other servers, and the source has what it had then: it has not changed. */
  async #isFromBefore(head: Revision, { kind, upsert }: Omit<LayerCommit, "parent">): Promise<boolean> {
    if (kind !== "replace" || rolledBackBy(head) === undefined || this.#rollbacks.knows(head.layer, head.id))
      return false;
    const own = await ownBefore(this.#options.store, head);
    const idsOf = (stored: readonly StoredResource[]) =>
      stored.map(({ type, key, version }) => JSON.stringify([type, key, version])).sort();
    return own !== undefined && idsOf(own).join() === idsOf(upsert).join();
  }
}
