import type { Resource, ResourceName, ResourceType } from "@xdskit/api";
import { calledName, createDanglingNames } from "@xdskit/protocol";
import { idOf } from "../../basics/id-of.js";
import type { LayerChange, LayerResource } from "../../contracts/layer-change.js";
import type { JudgedStack } from "../../contracts/parts/judge.js";

/** A resource that a change removes from a stack while others there name it. */
export interface BrokenReference {
  readonly type: ResourceType;
  readonly name: ResourceName;
  /** Some of those that name it after the change. */
  readonly referrers: readonly LayerResource[];
}

/** How many referrers a message lists; one more shows that there are others. */
export const maxReferrers = 3;

/**
 * The resources that a change removes from a stack although others name them there afterwards. Only references whose
 * resource existed before can break: a resource that never existed does not count. Costs the change, and a look at each
 * layer for its removals.
 */
export function brokenInStack(
  stack: JudgedStack,
  changes: readonly LayerChange[],
  isMissed: (type: ResourceType, name: ResourceName) => boolean,
): readonly BrokenReference[] {
  const concerned = changes.filter(({ layer }) => stack.order.includes(layer));
  const gone = goneFrom(stack, concerned, isMissed);
  if (gone.size === 0) return [];
  const found = new Map<string, Map<string, LayerResource>>();
  const note = (id: string, by: LayerResource | undefined): boolean => {
    const known = found.get(id) ?? new Map<string, LayerResource>();
    if (by !== undefined && namesIt(by.resource, id)) found.set(id, known.set(idOf(by.resource), by));
    return known.size > maxReferrers;
  };
  const names = stack.index(createDanglingNames);
  for (const [id, { type, name }] of gone) {
    for (const referrer of names.referrers({ type: type.typeUrl, name })) {
      if (note(id, stack.winner(referrer.type, referrer.key))) break;
    }
  }
  // The current names do not include resources that come with the change, or that appear below removed ones.
  for (const { type, key } of keysOf(concerned)) {
    const fresh = stack.winner(type, key);
    for (const { type, name } of fresh?.resource.references ?? []) {
      const id = idOf({ type: { typeUrl: type }, key: name });
      if (gone.has(id) && (found.get(id)?.size ?? 0) <= maxReferrers) note(id, fresh);
    }
  }
  return [...found].flatMap(([id, referrers]) => {
    const what = gone.get(id);
    return what === undefined ? [] : [{ ...what, referrers: [...referrers.values()] }];
  });
}

/** The resource of a name that has no resource under any key afterwards. */
function goneFrom(
  { before, winner }: Pick<JudgedStack, "before" | "winner">,
  changes: readonly LayerChange[],
  isMissed: (type: ResourceType, name: ResourceName) => boolean,
): Map<string, { readonly type: ResourceType; readonly name: ResourceName }> {
  const gone = new Map<string, { readonly type: ResourceType; readonly name: ResourceName }>();
  for (const { removed } of changes) {
    for (const { type, name: key } of removed) {
      const was = before.of(type).get(key);
      if (was === undefined || winner(type, key) !== undefined) continue;
      const name = calledName(was);
      // Another variant of the name may stay.
      const stays =
        was.variant !== undefined &&
        before
          .of(type)
          .named(name)
          .some((one) => winner(type, one.key));
      if (!stays && isMissed(type, name)) gone.set(idOf({ type, key: name }), { type, name });
    }
  }
  if (gone.size === 0) return gone;
  for (const { upserted } of changes) {
    for (const resource of upserted) gone.delete(idOf({ type: resource.type, key: calledName(resource) }));
  }
  return gone;
}

function* keysOf(changes: readonly LayerChange[]): Iterable<Pick<Resource, "type" | "key">> {
  for (const { upserted, removed } of changes) {
    yield* upserted;
    for (const { type, name } of removed) yield { type, key: name };
  }
}

function namesIt({ references }: Resource, id: string): boolean {
  return references.some(({ type, name }) => idOf({ type: { typeUrl: type }, key: name }) === id);
}
