import { type FieldPlacesOptions, fieldPlaces, maxBytesForPlaces, type Where, type XdskitError } from "@xdskit/api";
import { isBelow } from "../configuration/below.js";
import { createLayers, type Layers } from "../configuration/layers.js";
import { resourcesOfLayer } from "../configuration/resources-of-layer.js";
import type { LayerChange, LayerResource } from "../contracts/layer-change.js";
import type { IsOwnName, Judge, JudgedChange, WhereWritten } from "../contracts/parts/judge.js";
import type { LayerUpdate, Source } from "../contracts/source.js";
import { wholeFolderLayer } from "../sources/folder/folder-options.js";
import type { Publication } from "./publication.js";

interface JudgingContext {
  readonly judges: readonly Judge[];
  readonly layers: Layers;
  readonly publication: Publication;
  /** With which the files of sources are read. */
  readonly reading: FieldPlacesOptions;
  readonly isOwnName: IsOwnName;
  readonly sources: ReadonlySet<Source>;
}

/** Updates of different layers, and the differences that they would make. */
interface PlannedChange {
  readonly updates: readonly LayerUpdate[];
  readonly planned: readonly LayerChange[];
  /** Whose change it is, if it is a source's. */
  readonly source?: Source | undefined;
}

/** Asks all judges about a change. Changes nothing, and tells nobody. */
export class Judging {
  readonly #context: JudgingContext;

  constructor(context: JudgingContext) {
    this.#context = context;
  }

  /** Whether a judge may find something: this saves the plan of the change. */
  concerns(updates: readonly LayerUpdate[]): boolean {
    return this.#judgesOf(updates).length > 0;
  }

  /** Why a change is refused; undefined: it is sound. */
  refusalOf(change: PlannedChange): XdskitError | undefined {
    const { publication } = this.#context;
    const stacks = () => publication.judged(change.planned);
    return this.#ask(this.#judgesOf(change.updates), change, stacks);
  }

  /** The same of updates for different layers. Costs nothing where no judge is concerned. */
  refusalOfUpdates(updates: readonly LayerUpdate[]): XdskitError | undefined {
    if (!this.concerns(updates)) return undefined;
    return this.refusalOf({ updates, planned: this.#context.layers.plan(updates) });
  }

  /** Why it is refused as a change of what the source had before a restart, which may be nothing. */
  refusalSince(
    since: readonly LayerUpdate[],
    updates: readonly LayerUpdate[],
    source: Source | undefined,
  ): XdskitError | undefined {
    const fromNothing = since.length === 0;
    const judges = this.#judgesOf(updates).filter(({ judgesStart }) => !fromNothing || judgesStart);
    if (judges.length === 0) return undefined;
    const layers = copyOf(this.#context.layers, since);
    const planned = layers.plan(updates);
    const stacks = () => this.#context.publication.judgedOver(planned, { layers, fromNothing });
    return this.#ask(judges, { updates, planned, source }, stacks);
  }

  #judgesOf(updates: readonly LayerUpdate[]): readonly Judge[] {
    return this.#context.judges.filter((judge) => judge.concerns(updates));
  }

  #ask(
    judges: readonly Judge[],
    { updates, planned, source }: PlannedChange,
    readStacks: () => JudgedChange["stacks"],
  ): XdskitError | undefined {
    let stacks: JudgedChange["stacks"] | undefined;
    const change: JudgedChange = {
      changes: planned,
      // All judges look at the same stacks.
      get stacks() {
        stacks ??= readStacks();
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
}

/** The layers as if a source had brought this. */
function copyOf(layers: Layers, brought: readonly LayerUpdate[]): Layers {
  const copy = createLayers();
  copy.apply(layers.names.map((layer) => ({ layer, kind: "replace", upsert: resourcesOfLayer(layers.get(layer)) })));
  copy.apply(brought);
  return copy;
}
