import type { Resource } from "@xdskit/api";
import { idOf } from "../../basics/id-of.js";
import { mergedUpdates } from "../../configuration/merged-updates.js";
import type { LayerUpdate } from "../../contracts/source.js";

/** The changes of one revision. */
export type RevisionChanges = readonly LayerUpdate[];

/** The number of revisions that wait to be written, before further changes share the last one whatever it loses. */
const maxWaiting = 100;

/**
 * Whether a client may come back with this content and need it: it names something, or is in the version of all of its
 * type. Content of other resources, such as endpoints that come and go, may be of any time.
 */
export function isNeededBack({ type, references }: Resource): boolean {
  return type.fullState || references.length > 0;
}

/**
 * Adds changes to the revisions that wait. Changes share a revision as long as it shows all that clients may come back
 * with: the content that was there before it, and the content after it.
 */
export function addedTo(waiting: readonly RevisionChanges[], changes: RevisionChanges): readonly RevisionChanges[] {
  const last = waiting.at(-1);
  if (changes.length === 0) return waiting;
  if (last === undefined || (waiting.length < maxWaiting && loses(last, changes))) return [...waiting, changes];
  return [...waiting.slice(0, -1), mergedUpdates(last, changes)];
}

function loses(first: RevisionChanges, second: RevisionChanges): boolean {
  return second.some((update) => {
    const brought = first.find(({ layer }) => layer === update.layer)?.upsert ?? [];
    if (brought.length === 0) return false;
    const after = new Map(update.upsert.map((one) => [idOf(one), one.version]));
    const removed = new Set(update.remove?.map(({ type, name }) => idOf({ type, key: name })));
    return brought.some((one) => {
      const version = after.get(idOf(one));
      if (version !== undefined) return version !== one.version && isNeededBack(one);
      const isGone = update.kind === "replace" || [one.key, one.name].some((key) => removed.has(idOf({ ...one, key })));
      return isGone && isNeededBack(one);
    });
  });
}
