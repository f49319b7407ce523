import {
  type FieldPlacesOptions,
  type Finding,
  fieldPlaces,
  maxBytesForPlaces,
  type Where,
  XdskitError,
} from "@xdskit/api";
import { refuseForeign } from "../configuration/authorities.js";
import { isBelow } from "../configuration/below.js";
import type { ChangeOfLayer } from "../configuration/create-config.js";
import { heldBy } from "../configuration/held-by.js";
import { createLayers, type Layers } from "../configuration/layers.js";
import { checkRollout } from "../configuration/option-checks.js";
import type { ChangeOptions } from "../contracts/config.js";
import type { Events } from "../contracts/events.js";
import type { GroupPreview } from "../contracts/group-preview.js";
import type { LayerChange, LayerResource } from "../contracts/layer-change.js";
import type { IsOwnName, Judge, JudgedChange, WhereWritten } from "../contracts/parts/judge.js";
import type { Progress } from "../contracts/parts/progress.js";
import type { TargetPolicy } from "../contracts/parts/target-policy.js";
import type { LayerUpdate, Source, StepBack } from "../contracts/source.js";
import type { LayerName } from "../settings/group-settings.js";
import { wholeFolderLayer } from "../sources/folder/folder-options.js";
import type { Counters } from "./counters.js";
import type { Publication } from "./publication.js";
import { onePerLayer, RefusedChanges } from "./refused-changes.js";
import { type ChangeOrigin, ServedSource } from "./served-source.js";
import type { SourceTroubles } from "./source-troubles.js";

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

/** Who judges, of those that may find something, if not all; `over`: as if these were the server's layers. */
interface JudgedBy {
  readonly judges?: readonly Judge[];
  readonly over?: { readonly layers: Layers; readonly fromNothing: boolean };
}

/**
 * Takes every change of the configuration, from programs and sources, into the layers, then out to streams.
 */
export class Configuring {
  readonly #context: ConfiguringContext;
  /** Functions that end the holds of sources that could not start, by their names. */
  readonly #failed = new Map<string, () => void>();
  readonly #refusedChanges = new RefusedChanges();
  /** The number of changes that made a difference. */
  #revision = 0;
  /** Names of sources that have brought content. */
  readonly #started = new Set<string>();

  constructor(context: ConfiguringContext) {
    this.#context = context;
  }

  /**
   * Applies a program's change. Throws an XdskitError, and changes nothing, if the content or its rollout is wrong.
   */
  readonly apply: ChangeOfLayer<Published> = (layer, read, how) => {
    const refused = (findings: readonly Finding[]) => this.#refused(layer, findings);
    const changes = this.#applyOrReport({ isJudged: true, refused }, () => [read()], how);
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
    const refusal = this.#refusalOf([{ layer, kind: "replace", upsert: [] }]);
    if (refusal !== undefined) {
      this.#refused(layer, refusal.findings);
      throw refusal;
    }
    const change = this.#context.layers.drop(layer);
    return { revision: this.#publish(change === undefined ? [] : [change]), change };
  };

  /** The reasons for which `apply` would refuse a change. Changes nothing, and tells nobody. Costs the change. */
  readonly check = (updates: readonly LayerUpdate[]): readonly Finding[] => {
    try {
      const each = onePerLayer(updates);
      this.#refuseForeign(each);
      return this.#judgement(each, this.#context.layers.plan(each))?.findings ?? [];
    } catch (error) {
      if (error instanceof XdskitError) return error.findings;
      throw error;
    }
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
      await source.start(served);
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
    return new ServedSource(source, predecessor, {
      ...{ troubles, events, refusedChanges: this.#refusedChanges },
      apply: (origin, updates) => this.#applyOrReport(origin, () => updates),
      publish: (changes, isLater) => this.#publish(changes, undefined, isLater),
      resume: (steps) => this.#resume(steps),
      rememberedMs: () => this.#context.publication.rememberedMs,
      tellRefusal: (refused, findings) => this.#tellRefusal(refused, findings),
      brought: () => this.#started.add(name),
      ended: () => this.#context.sources.delete(source),
    });
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

  #refused(source: string, findings: readonly Finding[]): void {
    this.#context.troubles.found(source, findings);
    this.#tellRefusal(source, findings);
  }

  #tellRefusal(source: string, findings: readonly Finding[]): void {
    this.#context.counters.configurationsRefused += 1;
    this.#context.events.emit("configuration-refused", () => ({ source, findings }));
  }

  /** Applies the updates to the layers, all or none. Reports an error before it throws it. */
  #applyOrReport(
    origin: ChangeOrigin,
    read: () => readonly LayerUpdate[],
    how?: ChangeOptions,
  ): readonly LayerChange[] {
    try {
      checkRollout(how?.rollout);
      const updates = read();
      this.#refuseForeign(updates);
      return this.#applyIfSound(origin, updates);
    } catch (error) {
      if (error instanceof XdskitError) origin.refused(error.findings);
      throw error;
    }
  }

  #refuseForeign(updates: readonly LayerUpdate[]): void {
    const upserted = updates.flatMap(({ upsert }) => upsert);
    refuseForeign(upserted, this.#context.authorities);
  }

  /**
   * Applies a change unless a judge refuses it. A refused change is tried again together with changes of other sources
   * that were refused before: two changes that each break references may be sound together.
   */
  #applyIfSound({ source, isJudged, since }: ChangeOrigin, from: readonly LayerUpdate[]): readonly LayerChange[] {
    const { layers, publication } = this.#context;
    if (since !== undefined && !publication.hasBegun) this.#refuseSince(since, onePerLayer(from), source);
    const judges = isJudged ? this.#judgesOf(from) : [];
    if (judges.length === 0) return layers.apply(from);
    const updates = onePerLayer(from);
    const planned = layers.plan(updates);
    const refusal = this.#judgement(updates, planned, source, { judges });
    if (refusal === undefined) return layers.apply(updates, planned);
    for (const together of this.#refusedChanges.together(updates, source)) {
      const all = layers.plan(together);
      if (this.#judgement(together, all) === undefined) return layers.apply(together, all);
    }
    if (source !== undefined) this.#refusedChanges.note(source, updates);
    throw refusal;
  }

  /** Throws if a judge refuses these as a change of what the source had before a restart, which may be nothing. */
  #refuseSince(since: readonly LayerUpdate[], updates: readonly LayerUpdate[], source: Source | undefined): void {
    const fromNothing = since.length === 0;
    const judges = this.#judgesOf(updates).filter(({ judgesStart }) => !fromNothing || judgesStart);
    if (judges.length === 0) return;
    const over = { layers: copyOf(this.#context.layers, since), fromNothing };
    const refusal = this.#judgement(updates, over.layers.plan(updates), source, { judges, over });
    if (refusal === undefined) return;
    if (source !== undefined) this.#refusedChanges.note(source, updates);
    throw refusal;
  }

  #refusalOf(updates: readonly LayerUpdate[]): XdskitError | undefined {
    const judges = this.#judgesOf(updates);
    if (judges.length === 0) return undefined;
    return this.#judgement(updates, this.#context.layers.plan(updates), undefined, { judges });
  }

  /** Those that may find something. */
  #judgesOf(updates: readonly LayerUpdate[]): readonly Judge[] {
    return this.#context.judges.filter((judge) => judge.concerns(updates));
  }

  #judgement(
    updates: readonly LayerUpdate[],
    planned: readonly LayerChange[],
    source?: Source,
    { judges = this.#judgesOf(updates), over }: JudgedBy = {},
  ): XdskitError | undefined {
    const { publication } = this.#context;
    let stacks: JudgedChange["stacks"] | undefined;
    const change: JudgedChange = {
      changes: planned,
      // All judges look at the same stacks.
      get stacks() {
        stacks ??= over === undefined ? publication.judged(planned) : publication.judgedOver(planned, over);
        return stacks;
      },
      whereIs: this.#places(updates, source),
      isOwnName: this.#context.isOwnName,
    };
    for (const judge of judges) {
      const refusal = judge.judge(change);
      if (refusal !== undefined) return refusal;
    }
    return undefined;
  }

  /** The places of resources and of their fields, for one judgement. */
  #places(updates: readonly LayerUpdate[], source: Source | undefined): WhereWritten {
    const places = fieldPlaces({ ...this.#context.reading, maxBytes: maxBytesForPlaces });
    return (one, reference) => {
      const there = this.#whereIs(one, updates, source);
      return reference === undefined ? there : places.named(one.resource, reference, there);
    };
  }

  /** Only its own source knows where a resource is that the change brings. Others at least have a layer. */
  #whereIs({ layer, resource }: LayerResource, updates: readonly LayerUpdate[], source?: Source): Where | undefined {
    const isBrought = updates.some(
      (update) =>
        update.layer === layer && update.upsert.some(({ type, key }) => type === resource.type && key === resource.key),
    );
    for (const one of isBrought ? [source] : this.#context.sources) {
      const where = one?.whereIs?.(layer, resource);
      if (where !== undefined) return where;
    }
    return isBrought || layer === wholeFolderLayer || isBelow(layer) ? undefined : { file: `layer ${layer}` };
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
    this.#refusedChanges.retry((updates) => this.#refusalOf(updates) === undefined);
  }

  #forgetFailure(name: string): void {
    this.#failed.get(name)?.();
    this.#failed.delete(name);
  }
}

/** The layers as if a source had brought this. */
function copyOf(layers: Layers, brought: readonly LayerUpdate[]): Layers {
  const copy = createLayers();
  copy.apply(layers.names.map((layer) => ({ layer, kind: "replace", upsert: heldBy(layers.get(layer)) })));
  copy.apply(brought);
  return copy;
}
