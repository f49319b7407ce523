import { deferred, hasErrors } from "@xdskit/api";
import { mergedUpdates } from "../../configuration/merged-updates.js";
import { resourcesOfLayer } from "../../configuration/resources-of-layer.js";
import type { ApplyOptions, LayerUpdate, RolledBack, Source, SourceSink } from "../../contracts/source.js";
import type { LayerWritten } from "../../contracts/stores/layer-writer.js";
import type { StoreWatch } from "../../contracts/stores/shared-keys.js";
import type { Revision, RevisionId } from "../../contracts/stores/store.js";
import type { LayerName } from "../../settings/group-settings.js";
import { inTime } from "../basics/in-time.js";
import { storeFindings } from "../basics/store-finding.js";
import { stepsBack } from "../history/steps-back.js";
import { decodeStored } from "../history/stored-content.js";
import { watchHeads } from "../history/watch-heads.js";
import { type WentBack, WentBackLooks, wentBackFinding } from "../history/went-back.js";
import { keepLeft } from "./keep-left.js";
import type { KeptSourceOptions, RollbackTerms } from "./kept-options.js";
import {
  headsOfAll,
  type LastGoodContent,
  lastGoodUnlike,
  ownHeads,
  readLastGood,
  withFilesSince,
} from "./last-good.js";
import { ReportedRevisions } from "./reported-revisions.js";
import { RevisionWriter } from "./revision-writer.js";
import { Rollbacks } from "./rollbacks.js";
import { RollingBack } from "./rolling-back.js";

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
  /** `restoring`: the source had errors first. `live`: its own content was applied. */
  #phase: "starting" | "restoring" | "live" = "starting";
  #isClosing = false;
  /** The reading of the store, with which the start begins. Never rejects. */
  #loading: Promise<void> | undefined;
  /** What its changes are judged by until one is applied. Undefined: it is not known, or the source has the same. */
  #lastGood: LastGoodContent | undefined;
  /** The store has nothing that the source had. */
  #hadNothing = false;
  /** What is served of the source during the start; undefined: it is over, or something else was served before. */
  #served: readonly LayerUpdate[] | undefined;
  readonly #rollbacks = new Rollbacks();
  readonly #rollingBack: RollingBack;
  readonly #writer: RevisionWriter;
  #sink: SourceSink | undefined;
  #watch: StoreWatch | undefined;
  readonly #looks: WentBackLooks;
  readonly #revisions: ReportedRevisions;

  constructor(options: KeptSourceOptions) {
    const { source } = options;
    this.name = source.name;
    if (source.retry !== undefined) this.retry = () => source.retry?.();
    this.#options = options;
    const rollbacks = this.#rollbacks;
    const revisions = new ReportedRevisions(options.store, (revision) => options.onRevision?.(revision));
    this.#revisions = revisions;
    const follow = (head: Revision) => void this.#rollingBack.follow(head);
    const writer = new RevisionWriter({ ...options, rollbacks, revisions, follow });
    this.#writer = writer;
    this.#rollingBack = new RollingBack({
      ...options,
      rollbacks,
      revisions,
      writer,
      loaded: () => this.#loading,
      serve: (update, how) => this.#sink?.apply([update], how),
      onChanged: () => this.#rolledBackNow(),
    });
    this.#looks = new WentBackLooks(options.store, {
      back: (layers) => this.#keepAgain(layers),
      failed: (error) => options.onProblem(storeFindings(error)),
    });
  }

  readonly catchUp: NonNullable<Source["catchUp"]> = () => this.#options.source.catchUp?.();

  readonly whereIs: NonNullable<Source["whereIs"]> = (...one) => this.#options.source.whereIs?.(...one);

  async start(sink: SourceSink): Promise<void> {
    this.#sink = sink;
    this.#loading = this.#load();
    await this.#loading;
    if (this.#isClosing) throw new Error(`${this.name} was closed while it started`);
    // Asked for before the source brings the first content. None, too, if it cannot be read.
    const headsBefore = ownHeads(this.#options).catch(() => []);
    const restored = deferred();
    const begun = this.#options.source.start({
      prepare: (updates) => this.#prepare(updates),
      apply: (updates, how) => this.#apply(updates, sink, how),
      report: (findings, how) => {
        sink.report(findings, how);
        const isBad = hasErrors(findings);
        // A bad configuration may be good now, without a change.
        if (this.#phase === "live" && !isBad) this.#writer.keep();
        if (this.#phase !== "starting" || !isBad || this.#options.restores === false) return;
        this.#phase = "restoring";
        void this.#restore(sink).then((isServed) => {
          if (isServed) restored.resolve();
        });
      },
    });
    await Promise.race([begun, restored.promise]);
    if (this.#isLive && (await headsBefore).length > 0) await inTime((late) => this.#resume(sink, late));
    this.#served = undefined;
    if (!this.#isClosing) await inTime(() => this.#follows());
    // Where something is served already, the server goes on although the source's own start failed.
    begun.catch((error) => {
      if (!this.#isClosing) this.#options.onProblem(storeFindings(error));
    });
  }

  /** Keeps what an earlier process served and did not keep, and finds the rollbacks in force when it stopped. */
  async #load(): Promise<void> {
    const { store, onProblem } = this.#options;
    try {
      await keepLeft(this.#options);
      const heads = await ownHeads(this.#options);
      await this.#rollbacks.remember(store, heads, (stored) => decodeStored(stored, this.#options));
    } catch (error) {
      onProblem(storeFindings(error));
    }
  }

  /** Resolves once what the store told first is served, or once it says that it is away. */
  #follows(): Promise<void> {
    const { watch, first } = watchHeads(this.#options.store, { take: (heads) => this.#hear(heads), away: () => {} });
    this.#watch = watch;
    return first;
  }

  /** A getter, since the phase changes while a start waits. */
  get #isLive(): boolean {
    return this.#phase === "live";
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
    return this.#rollingBack.rollBack(layer, to, rest);
  }

  /**
   * Writes what must be written, and then nothing more: another source will replace this one, and its revisions must
   * come after those of this one. Rollbacks reject with XDSKIT_BUSY meanwhile. Returns a function that ends
   * the pause if nothing took its place: it writes what changed meanwhile, and each change from then on.
   */
  async pause(): Promise<() => void> {
    await this.#rollingBack.pause();
    return () => this.#writer.goOn();
  }

  /** Waits for what is being read, and must still be written. One that is paused writes nothing more. */
  async close(): Promise<void> {
    this.#isClosing = true;
    this.#watch?.close();
    this.#looks.close();
    await this.#rollingBack.close();
    await this.#loading;
    await this.#options.source.close();
    await this.#writer.stop("closed");
    this.#sink?.ended?.();
  }

  #apply(updates: readonly LayerUpdate[], sink: SourceSink, how: ApplyOptions = {}): void {
    const lastGood = this.#lastGood;
    const since = this.#hadNothing ? how.since : lastGood?.updates;
    const { served, isOther } = this.#rollbacks.apply(updates, (all) => sink.apply(all, { since }));
    this.#lastGood = undefined;
    if (this.#phase === "starting") this.#served = served;
    else if (this.#served !== undefined) this.#served = mergedUpdates(this.#served, served);
    this.#phase = "live";
    if (isOther) this.#rolledBackNow();
    this.#writer.keep(lastGood === undefined ? served : withFilesSince(served, lastGood, this.#options.source));
  }

  /** Reads the last good revision if the source is going to start with something else. */
  async #prepare(updates: readonly LayerUpdate[]): Promise<void> {
    const { store, onProblem, restores } = this.#options;
    if (this.#isLive || this.#lastGood !== undefined) return;
    this.#hadNothing = restores === false;
    if (this.#hadNothing) return;
    try {
      const heads = await headsOfAll(this.#options);
      this.#hadNothing = heads === undefined;
      const now = this.#rollbacks.served(updates);
      const lastGood = heads && (await lastGoodUnlike(now, store, heads, this.#options));
      if (!this.#isLive) this.#lastGood ??= lastGood;
    } catch (error) {
      onProblem(storeFindings(error));
    }
  }

  /**
   * Another server of the store may have rolled a layer back: then it is served here, too. Resolves once it is, and
   * once what others have made is told.
   */
  async #hear(heads: readonly Revision[]): Promise<void> {
    const own = heads.filter(({ layer }) => this.#options.layers.includes(layer));
    this.#looks.moved(own);
    await Promise.all([...own.map((head) => this.#rollingBack.follow(head)), this.#revisions.hear(own)]);
  }

  /** A store that was restored from a backup does not have what is served. */
  #keepAgain(back: readonly WentBack[]): void {
    const { served } = this.#options;
    if (served === undefined || !this.#isLive) return;
    const again = back.map(
      ({ layer }) => ({ layer, kind: "replace", upsert: resourcesOfLayer(served(layer)) }) as const,
    );
    this.#writer.keepAgain(again, back.map(wentBackFinding));
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
    const { store, onRestored, onProblem } = this.#options;
    try {
      const heads = await headsOfAll(this.#options);
      if (heads === undefined) return false;
      const lastGood = this.#lastGood ?? (await readLastGood(store, heads, this.#options));
      if (this.#isLive) return false;
      this.#lastGood = lastGood;
      sink.apply(lastGood.updates, { isRestored: true });
      onRestored?.(lastGood.heads);
      return true;
    } catch (error) {
      onProblem(storeFindings(error));
      return false;
    }
  }

  /**
   * Says what the source had when it was served before: where it has something else now, clients come back with that.
   * Where the content changes again meanwhile, it is read again. Nothing is said where the last good revision was
   * served first. A start does not wait for a slow disk, or for a source that changes all the time: clients then come
   * back with the newest at once.
   */
  async #resume(sink: SourceSink, late: AbortSignal): Promise<void> {
    const { store, onProblem } = this.#options;
    for (;;) {
      await this.#writer.written();
      const served = this.#served;
      // Where it could not be kept, the heads are not what is served.
      if (late.aborted || sink.resume === undefined || served === undefined || !this.#writer.isUpToDate) return;
      try {
        const steps = await stepsBack(store, served, this.#options, late, Date.now() - (sink.rememberedMs ?? 0));
        // The start is over, or the content has changed. If it was only too late for all steps, the newest are there.
        if (this.#served === undefined) return;
        if (this.#served !== served && !late.aborted) continue;
        if (this.#served === served && steps.length > 0) sink.resume(steps);
      } catch (error) {
        onProblem(storeFindings(error));
      }
      return;
    }
  }
}
