import type { Reference } from "@xdskit/api";
import { createDanglingNames } from "@xdskit/protocol";
import { idOf } from "../../basics/id-of.js";
import type { LayerResource } from "../../contracts/layer-change.js";
import type { JudgedStack } from "../../contracts/parts/judge.js";
import type { StackAfter } from "./stack-after.js";

/** A name that a change takes from a stack while others there have it. */
export interface BrokenReference {
  readonly reference: Reference;
  /** Some of those that name it after the change. */
  readonly referrers: readonly LayerResource[];
}

/** How many referrers a message lists; one more shows that there are others. */
export const maxReferrers = 3;

/**
 * The names that a change takes from a stack although others name them there afterwards. Only references whose resource
 * existed before can break: a resource that never existed does not count. Costs the change.
 */
export function brokenInStack(
  stack: Pick<JudgedStack, "index" | "winner">,
  after: StackAfter,
  isMissed: (reference: Reference) => boolean,
): readonly BrokenReference[] {
  const gone = new Map<string, { reference: Reference; referrers: Map<string, LayerResource> }>();
  for (const reference of after.gone().filter(isMissed))
    gone.set(keyOf(reference), { reference, referrers: new Map() });
  if (gone.size === 0) return [];
  const winner = ({ type, key }: LayerResource["resource"]) => stack.winner(type, key);
  const note = (reference: Reference, by: LayerResource | undefined): boolean => {
    const referrers = gone.get(keyOf(reference))?.referrers;
    if (referrers === undefined || by === undefined || referrers.size > maxReferrers) return false;
    return referrers.set(idOf(by.resource), by).size <= maxReferrers;
  };
  const names = stack.index(createDanglingNames);
  for (const { reference } of gone.values())
    for (const one of names.stillNaming(reference, (referrer) => winner(referrer)?.resource))
      if (!note(reference, winner(one))) break;
  // The index does not have resources that come with the change, or that appear below removed ones.
  for (const by of after.touched()) for (const reference of by.resource.references) note(reference, by);
  return Array.from(gone.values())
    .filter(({ referrers }) => referrers.size > 0)
    .map(({ reference, referrers }) => ({ reference, referrers: [...referrers.values()] }));
}

function keyOf({ type, name }: Reference): string {
  return `${type} ${name}`;
}
