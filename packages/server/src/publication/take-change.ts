import { XdskitError } from "@xdskit/api";
import { refuseForeign } from "../configuration/authorities.js";
import type { Layers } from "../configuration/layers.js";
import type { LayerChange } from "../contracts/layer-change.js";
import type { LayerUpdate, Source } from "../contracts/source.js";
import type { Judging } from "./judging.js";
import { onePerLayer, type RefusedChanges } from "./refused-changes.js";

/** A change that a program or a source wants. */
export interface WantedChange {
  /** Undefined: a program's. */
  readonly source?: Source;
  readonly updates: readonly LayerUpdate[];
  /** Whether judges may refuse it. */
  readonly isJudged: boolean;
  /** What they take for the source's content while nodes are told nothing; undefined: they are not asked then. */
  readonly since?: readonly LayerUpdate[] | undefined;
}

/** The differences of layers that it made, not published yet; or why it is refused: then it changed nothing. */
export type TakenChange = { readonly changes: readonly LayerChange[] } | { readonly refusal: XdskitError };

interface TakingContext {
  readonly layers: Layers;
  readonly judging: Judging;
  readonly refusedChanges: RefusedChanges;
  /** Resources of other authorities are refused. Undefined means that all authorities are served. */
  readonly authorities: ReadonlySet<string> | undefined;
  /** Whether nodes have been told something. */
  readonly hasBegun: boolean;
}

/**
 * Takes a change into the layers, all of it or nothing, unless a judge refuses it. A refused change is tried again
 * together with changes of other sources that were refused before: two changes that each break references may be sound
 * together.
 */
export function takeChange(wanted: WantedChange, context: TakingContext): TakenChange {
  const { source, updates, isJudged, since } = wanted;
  const { layers, judging, refusedChanges, authorities, hasBegun } = context;
  const refused = (refusal: XdskitError) => {
    if (source !== undefined) refusedChanges.note(source, onePerLayer(updates));
    return { refusal };
  };
  return refusalOr(() => {
    refuseForeign(
      updates.flatMap(({ upsert }) => upsert),
      authorities,
    );
    if (since !== undefined && !hasBegun) {
      const refusal = judging.refusalSince(since, onePerLayer(updates), source);
      if (refusal !== undefined) return refused(refusal);
    }
    if (!isJudged || !judging.concerns(updates)) return { changes: layers.apply(updates) };
    const alone = onePerLayer(updates);
    const planned = layers.plan(alone);
    const refusal = judging.refusalOf({ updates: alone, planned, source });
    if (refusal === undefined) return { changes: layers.apply(alone, planned) };
    for (const together of refusedChanges.together(alone, source)) {
      const all = layers.plan(together);
      if (judging.refusalOf({ updates: together, planned: all, source }) === undefined)
        return { changes: layers.apply(together, all) };
    }
    return refused(refusal);
  });
}

/** What a function returns, or the XdskitError that it throws. */
export function refusalOr<Result>(run: () => Result): Result | { readonly refusal: XdskitError } {
  try {
    return run();
  } catch (error) {
    if (error instanceof XdskitError) return { refusal: error };
    throw error;
  }
}
