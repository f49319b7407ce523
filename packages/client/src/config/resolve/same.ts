import { XdskitError } from "@xdskit/api";

/**
 * Returns the old value if the new one is equal, so that parts that did not change stay the same objects. Compares two
 * levels deep; errors are equal if their texts are.
 */
export function kept<Value>(before: Value | undefined, after: Value): Value {
  return before !== undefined && isSame(before, after, 2) ? before : after;
}

function isSame(a: unknown, b: unknown, depth: number): boolean {
  if (a === b) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (a instanceof XdskitError || b instanceof XdskitError)
    return a instanceof XdskitError && b instanceof XdskitError && a.message === b.message;
  if (depth === 0) return false;
  const [some, others] = [Object.entries(a), Object.entries(b)];
  return (
    some.length === others.length && some.every(([key, value]) => isSame(value, b[key as keyof typeof b], depth - 1))
  );
}
