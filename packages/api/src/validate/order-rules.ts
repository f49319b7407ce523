import { listOf, type RuleSet, ruleCheck, ruleOf, type ValueCheck, written } from "./values/value-check.js";

/** How to compare values of a kind, and how to format one for people. */
export interface ValueOrder<Value> {
  readonly compare: (a: Value, b: Value) => number;
  readonly show: (value: Value) => string;
}

const numbers: ValueOrder<number | bigint> = {
  // NaN is not less than anything, so it satisfies every bound, as in PGV's own code.
  compare: (a, b) => (a < b ? -1 : a > b ? 1 : 0),
  show: String,
};

/** const, lt, lte, gt, gte, in and not_in for a kind of number such as `uint32` or `double`. */
export function numberChecks(kind: string, rules: RuleSet): ValueCheck[] {
  return orderChecks(kind, rules, numbers);
}

/**
 * The rules of all ordered kinds: numbers, durations, times. If the lower bound is above the upper one, values outside
 * are allowed, as in PGV.
 */
export function orderChecks<Value>(kind: string, rules: RuleSet, { compare, show }: ValueOrder<Value>): ValueCheck[] {
  const checks: ValueCheck[] = [];
  const add = (name: string, limit: unknown, message: string, keeps: (value: Value) => boolean) =>
    checks.push(
      ruleCheck(
        `${kind}.${name}: ${Array.isArray(limit) ? written(limit.map(show)) : show(limit as Value)}`,
        message,
        keeps,
      ),
    );
  const exact = ruleOf<Value>(rules, "const");
  if (exact !== undefined) add("const", exact, `must be ${show(exact)}`, (value) => compare(value, exact) === 0);
  const low = boundOf<Value>(rules, "gt", "gte");
  const high = boundOf<Value>(rules, "lt", "lte");
  const above = (value: Value, bound: Bound<Value>) => isBeyond(compare(value, bound.limit), bound.inclusive);
  const below = (value: Value, bound: Bound<Value>) => isBeyond(compare(bound.limit, value), bound.inclusive);
  if (low !== undefined && high !== undefined && compare(low.limit, high.limit) > 0) {
    const message = `must be ${boundText(low, "above", show)} or ${boundText(high, "below", show)}`;
    add(`${low.name}/${high.name}`, low.limit, message, (value) => above(value, low) || below(value, high));
  } else {
    if (low !== undefined)
      add(low.name, low.limit, `must be ${boundText(low, "above", show)}`, (value) => above(value, low));
    if (high !== undefined)
      add(high.name, high.limit, `must be ${boundText(high, "below", show)}`, (value) => below(value, high));
  }
  const allowed = listOf<Value>(rules, "in");
  if (allowed.length > 0) {
    const message = `must be one of ${allowed.map(show).join(", ")}`;
    add("in", allowed, message, (value) => allowed.some((item) => compare(value, item) === 0));
  }
  const forbidden = listOf<Value>(rules, "notIn");
  if (forbidden.length > 0) {
    const message = `must not be one of ${forbidden.map(show).join(", ")}`;
    add("not_in", forbidden, message, (value) => !forbidden.some((item) => compare(value, item) === 0));
  }
  return checks;
}

interface Bound<Value> {
  readonly name: string;
  readonly limit: Value;
  readonly inclusive: boolean;
}

function boundOf<Value>(rules: RuleSet, open: string, closed: string): Bound<Value> | undefined {
  for (const name of [open, closed]) {
    const limit = ruleOf<Value>(rules, name);
    if (limit !== undefined) return { name, limit, inclusive: name === closed };
  }
  return undefined;
}

function isBeyond(order: number, inclusive: boolean): boolean {
  return order > 0 || (inclusive && order === 0);
}

function boundText<Value>(bound: Bound<Value>, side: "above" | "below", show: (value: Value) => string): string {
  if (bound.inclusive) return `at ${side === "above" ? "least" : "most"} ${show(bound.limit)}`;
  return `${side === "above" ? "more" : "less"} than ${show(bound.limit)}`;
}
