import type { FieldPlacesOptions, Finding, XdskitError } from "@xdskit/api";
import { refuseForeign } from "../configuration/authorities.js";
import type { ChangeOfLayer } from "../configuration/create-config.js";
import type { Layers } from "../configuration/layers.js";
import { checkRollout } from "../configuration/option-checks.js";
import type { ChangeOptions } from "../contracts/config.js";
import type { Events } from "../contracts/events.js";
import type { GroupPreview } from "../contracts/group-preview.js";
import type { LayerChange } from "../contracts/layer-change.js";
import type { IsOwnName, Judge } from "../contracts/parts/judge.js";
import type { Progress } from "../contracts/parts/progress.js";
import type { TargetPolicy } from "../contracts/parts/target-policy.js";
import type { ApplyOptions, LayerUpdate, Source, SourceSink, StepBack } from "../contracts/source.js";
import type { LayerName } from "../settings/group-settings.js";
import type { Counters } from "./counters.js";
import { Judging } from "./judging.js";
import type { Publication } from "./publication.js";
import { onePerLayer, RefusedChanges } from "./refused-changes.js";
import { ServedSource } from "./served-source.js";
import type { SourceTroubles } from "./source-troubles.js";
import { refusalOr, type TakenChange, takeChange, type WantedChange } from "./take-change.js";

interface ConfiguringContext {
  readonly layers: Layers;
  readonly publication: Publication;
  readonly progress: Progress;
  readonly events: Events;
  readonly counters: Counters;
  /** Resources of other authorities are refused. Undefined means that all authorities are served. */
  readonly authorities: ReadonlySet<string> | undefined;
  readonly troubles: SourceTroubles;
  /** With which the files of sources are read. */
  readonly reading: FieldPlacesOptions;
  readonly judges: readonly Judge[];
  readonly isOwnName: IsOwnName;
  /** Takes the sources that are added and have not said that they ended. */
  readonly sources: Set<Source>;
  /** Reads what rollouts hold back, before nodes are told something; undefined: nothing has to be read for that. */
  readonly prepared: TargetPolicy["prepare"];
  /** Called when the server may have become ready, or not ready. */
  published(): void;
}

/** What became of a change of one layer. */
export interface Published {
  /** The number of the change, or of the last one that made a difference if this one made none. */
  readonly revision: number;
  /** Undefined: it made no difference. */
  readonly change: LayerChange | undefined;
}

/**
 * Takes every change of the configuration, from programs and sources, into the layers, then out to streams.
 */
export class Configuring {
  readonly #context: ConfiguringContext;
  /** Functions that end the holds of sources that could not start, by their names. */
  readonly #failed = new Map<string, () => void>();
  readonly #judging: Judging;
  readonly #refusedChanges = new RefusedChanges();
  /** The number of changes that made a difference. */
  #revision = 0;
  /** Names of sources that have brought content. */
  readonly #started = new Set<string>();

  constructor(context: ConfiguringContext) {
    this.#context = context;
    this.#judging = new Judging(context);
  }

  /**
   * Applies a program's change. Throws an XdskitError, and changes nothing, if the content or its rollout is wrong.
   */
  readonly apply: ChangeOfLayer<Published> = (layer, read, how) => {
    const taken = refusalOr(() => {
      checkRollout(how?.rollout);
      return this.#take({ updates: [read()], isJudged: true });
    });
    if ("refusal" in taken) throw this.#refused(layer, taken.refusal);
    const { changes } = taken;
    this.#context.troubles.found(layer, []);
    const revision = this.#publish(changes, how);
    // A program that sets something after a source has failed goes on without that source.
    for (const name of this.#failed.keys()) this.#forgetFailure(name);
    this.#context.published();
    return { revision, change: changes.find((change) => change.layer === layer) };
  };

  /** The effect of a change on each group. Changes nothing, and judges nothing: see `check`. */
  readonly preview = (updates: readonly LayerUpdate[]): readonly GroupPreview[] =>
    this.#context.publication.preview(this.#context.layers.plan(onePerLayer(updates)));

  /** Throws an XdskitError, and changes nothing, if a judge refuses that. */
  readonly drop = (layer: LayerName): Published => {
    const refusal = this.#judging.refusalOfUpdates([{ layer, kind: "replace", upsert: [] }]);
    if (refusal !== undefined) throw this.#refused(layer, refusal);
    return this.#drop(layer);
  };

  /** The reasons for which a change would be refused now. Changes nothing, and tells nobody. Costs the change. */
  readonly check = (
    updates: readonly LayerUpdate[],
    { source, isJudged = true }: Pick<WantedChange, "source"> & { readonly isJudged?: boolean } = {},
  ): readonly Finding[] => {
    const checked = refusalOr(() => {
      const each = onePerLayer(updates);
      const { authorities, layers } = this.#context;
      refuseForeign(
        each.flatMap(({ upsert }) => upsert),
        authorities,
      );
      const planned = layers.plan(each);
      return { refusal: isJudged ? this.#judging.refusalOf({ updates: each, planned, source }) : undefined };
    });
    return checked.refusal?.findings ?? [];
  };

  /**
   * Resolves once the source has applied its first configuration. Rejects if it could not start: then nothing is
   * published until a program sets something, or a source of that name starts.
   */
  async addSource(source: Source): Promise<void> {
    const { name } = source;
    const { publication, published } = this.#context;
    const served = this.#serve(source);
    this.#context.sources.add(source);
    const release = publication.hold();
    this.#forgetFailure(name);
    try {
      await source.start(this.#sinkOf(source, served));
      served.started();
      const preparing = this.#context.prepared?.();
      if (preparing !== undefined) await preparing;
    } catch (error) {
      served.forget();
      // If it were released, the parts of other sources would go out as if they were everything, and clients would
      // drop this one's resources.
      this.#forgetFailure(name);
      this.#failed.set(name, release);
      throw error;
    }
    release();
    published();
    this.retryRefused();
  }

  #serve(source: Source): ServedSource {
    const { name } = source;
    const isServed = [...this.#context.sources].some((other) => other.name === name);
    const predecessor = !this.#started.has(name) ? "nothing" : isServed ? "source" : "content";
    const { troubles, events } = this.#context;
    const tellRefusal = this.#tellRefusal.bind(this);
    return new ServedSource(source, predecessor, {
      troubles,
      events,
      tellRefusal,
      refusedChanges: this.#refusedChanges,
    });
  }

  #sinkOf(source: Source, served: ServedSource): SourceSink {
    const { name } = source;
    const { troubles, publication, sources, counters } = this.#context;
    return {
      apply: (updates, how) => this.#bring(source, served, updates, how),
      check: (updates) => this.check(updates, { source, isJudged: served.canBeJudged }),
      took: (ms) => counters.latencies.tookSource(name, ms),
      drop: (layer) => void this.#drop(layer),
      resume: (steps) => this.#resume(steps),
      get rememberedMs(): number {
        return publication.rememberedMs;
      },
      report: (findings, { inPart = false } = {}) => served.report(findings, inPart),
      incomplete: (finding) => troubles.incomplete(name, finding),
      rolledBack: (layers) => served.rolledBack(layers),
      ended() {
        sources.delete(source);
        served.forget();
      },
    };
  }

  /** Brings a change of a source into the layers, then out to streams. Throws its refusal: then it changed nothing. */
  #bring(source: Source, served: ServedSource, updates: readonly LayerUpdate[], how: ApplyOptions = {}): void {
    if (how.isRestored !== true) this.#refusedChanges.forget(source);
    const isJudged = how.isJudged !== false && served.canBeJudged;
    const taken = this.#take({ source, updates, isJudged, since: how.since });
    if ("refusal" in taken) {
      served.refused(taken.refusal);
      throw taken.refusal;
    }
    this.#started.add(source.name);
    served.applied();
    this.#publish(taken.changes, undefined, isJudged);
  }

  #take(wanted: WantedChange): TakenChange {
    const { layers, authorities, publication } = this.#context;
    const { hasBegun } = publication;
    const ofChanges = { judging: this.#judging, refusedChanges: this.#refusedChanges };
    return takeChange(wanted, { layers, authorities, hasBegun, ...ofChanges });
  }

  #drop(layer: LayerName): Published {
    const change = this.#context.layers.drop(layer);
    return { revision: this.#publish(change === undefined ? [] : [change]), change };
  }

  /** Nobody is told anything yet: the changes leave nothing but the snapshots in between. */
  #resume(steps: readonly StepBack[]): void {
    const { layers, publication } = this.#context;
    if (publication.hasBegun) return;
    const remember = publication.rememberEarlier();
    for (const { back } of steps) {
      publication.publish(layers.apply(back));
      remember();
    }
    for (const { forward } of steps.toReversed()) publication.publish(layers.apply(forward));
  }

  /** Returns the refusal, after it was told. */
  #refused(source: string, refusal: XdskitError): XdskitError {
    this.#context.troubles.found(source, refusal.findings);
    this.#tellRefusal(source, refusal.findings);
    return refusal;
  }

  #tellRefusal(source: string, findings: readonly Finding[]): void {
    this.#context.counters.configurationsRefused += 1;
    this.#context.events.emit("configuration-refused", () => ({ source, findings }));
  }

  /** Returns the number of the change, or of the last one that made a difference if this one made none. */
  #publish(changes: readonly LayerChange[], how?: ChangeOptions, isLater = false): number {
    const { publication, progress, events, counters, published } = this.#context;
    if (changes.length === 0) return this.#revision;
    counters.configurationsApplied += 1;
    this.#revision += 1;
    const revision = this.#revision;
    progress.published?.(revision, changes);
    const count = (what: "upserted" | "removed") => changes.reduce((sum, change) => sum + change[what].length, 0);
    events.emit("configuration-applied", () => ({
      revision,
      layers: changes.map(({ layer }) => layer),
      upserted: count("upserted"),
      removed: count("removed"),
    }));
    publication.publish(changes, how?.rollout, isLater);
    published();
    this.retryRefused();
    return revision;
  }

  /** Call it when refused changes may have become sound. */
  retryRefused(): void {
    // Before that nothing is judged, and every change would seem to be sound.
    if (!this.#context.publication.hasBegun) return;
    this.#refusedChanges.retry((updates) => this.#judging.refusalOfUpdates(updates) === undefined);
  }

  #forgetFailure(name: string): void {
    this.#failed.get(name)?.();
    this.#failed.delete(name);
  }
}
