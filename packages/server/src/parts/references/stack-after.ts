import { isCollection, type Reference, type ResourceTypes } from "@xdskit/api";
import { calledName } from "@xdskit/protocol";
import { idOf } from "../../basics/id-of.js";
import type { LayerChange, LayerResource } from "../../contracts/layer-change.js";
import type { JudgedStack } from "../../contracts/parts/judge.js";

/** What names mean in a stack after a change that is not made yet. */
export interface StackAfter {
  /** Whether a name is there, in any variant, or nobody could miss it here. */
  has(reference: Reference): boolean;
  /** The names that the change takes. */
  gone(): readonly Reference[];
  /** The resources that the change brings, and those that appear below removed ones. */
  touched(): readonly LayerResource[];
}

/** Costs the change. */
export function stackAfter(
  { order, before, winner }: JudgedStack,
  changes: readonly LayerChange[],
  types: ResourceTypes,
): StackAfter {
  const concerned = changes.filter(({ layer }) => order.includes(layer));
  const upserted = concerned.flatMap((change) => change.upserted);
  const removed = concerned.flatMap((change) => change.removed.map(({ type, name }) => ({ type, key: name })));
  const brought = new Set(upserted.map((one) => idOf({ type: one.type, key: calledName(one) })));
  const has = (reference: Reference): boolean => {
    const { type: url, name } = reference;
    const type = types.byTypeUrl(url)?.type;
    // Nobody could ask this server for it.
    if (type === undefined || isCollection(reference)) return true;
    if (brought.has(idOf({ type, key: name })) || winner(type, name) !== undefined) return true;
    // A variant of it.
    return before
      .of(type)
      .named(name)
      .some(({ key }) => winner(type, key) !== undefined);
  };
  return {
    has,
    gone: () =>
      removed.flatMap(({ type, key }) => {
        const was = before.of(type).get(key);
        const name = was && { type: type.typeUrl, name: calledName(was) };
        return name === undefined || has(name) ? [] : name;
      }),
    touched() {
      const keys = new Map([...upserted, ...removed].map((one) => [idOf(one), one]));
      return Array.from(keys.values(), ({ type, key }) => winner(type, key) ?? []).flat();
    },
  };
}
