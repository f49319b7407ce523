import { snakeCase } from "../../text/snake-case.js";

/** How a value breaks a rule. */
export interface Violation {
  /** Such as `must not be empty`. */
  readonly message: string;
  /** The rule as the proto file has it, such as `string.min_len: 1`. */
  readonly rule: string;
}

/** Checks one value; undefined if it satisfies the rule. */
export type ValueCheck = (value: unknown) => Violation | undefined;

/** The rules of one kind as they were read: rules that are set are own properties. */
export type RuleSet = { readonly [rule: string]: unknown };

/** A check for one rule, with its text made once. */
export function ruleCheck(rule: string, message: string, keeps: (value: never) => boolean): ValueCheck {
  const violation: Violation = { message, rule };
  return (value) => (keeps(value as never) ? undefined : violation);
}

/** A rule that is one of several: `string.email`, `bytes.ipv4` … */
export interface WellKnown {
  readonly case?: string | undefined;
  readonly value?: unknown;
}

/**
 * The rules of a kind that a limit parametrizes, by their local names: the words for a right value (`{}` stands for the
 * limit), and a function that makes the test of values.
 */
export type LimitRules<Value> = Readonly<
  Record<
    string,
    readonly [message: string | ((limit: never) => string), createTest: (limit: never) => (value: Value) => boolean]
  >
>;

/** The checks for those of these rules that are set. */
export function limitChecks<Value>(
  kind: string,
  rules: RuleSet,
  limits: LimitRules<Value>,
  show: (limit: unknown) => string = written,
): readonly ValueCheck[] {
  return Object.entries(limits).flatMap(([name, [message, createTest]]) => {
    const limit = ruleOf(rules, name);
    if (limit === undefined || (limit === false && name !== "const") || (Array.isArray(limit) && limit.length === 0))
      return [];
    const shown = name === "pattern" ? limit : show(limit);
    const rule = `${kind}.${snakeCase(name)}: ${shown}`;
    const text = typeof message === "string" ? message.replace("{}", () => show(limit)) : message(limit as never);
    return [ruleCheck(rule, text, createTest(limit as never))];
  });
}

/** A rule that is set; undefined if it is not (and not its default). */
export function ruleOf<Value>(rules: RuleSet, name: string): Value | undefined {
  return Object.hasOwn(rules, name) ? (rules[name] as Value) : undefined;
}

/** The items of a repeated rule. */
export function listOf<Value>(rules: RuleSet, name: string): readonly Value[] {
  return ruleOf<readonly Value[]>(rules, name) ?? [];
}

/** How the value of a rule is formatted. */
export function written(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(written).join(", ")}]`;
  if (value instanceof Uint8Array) return JSON.stringify(String.fromCharCode(...value));
  return String(value);
}

/** The values of a rule, for a message. */
export function listed(values: readonly unknown[]): string {
  return values.map(written).join(", ");
}

/** Several checks as one, which returns the first violation. */
export function allOf(checks: readonly ValueCheck[]): ValueCheck | undefined {
  const [first] = checks;
  if (checks.length <= 1) return first;
  return (value) => {
    for (const check of checks) {
      const violation = check(value);
      if (violation !== undefined) return violation;
    }
    return undefined;
  };
}
