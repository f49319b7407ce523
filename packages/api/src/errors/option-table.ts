import type { XdskitErrorCode } from "./error-codes.js";
import { XdskitError } from "./errors.js";
import { meantOrAll } from "./nearest-name.js";
import { throwIfAny } from "./throw-if-any.js";

/**
 * The kinds of values that options take. `count` is a number from 0 up; `off` and `false` stand for themselves.
 * `any` is checked elsewhere.
 */
export type OptionKind = keyof typeof names;

/**
 * The values that an option takes: one of some kinds, or an object with its own options, in a list, as each value of an
 * object, or as an alternative.
 */
export type OptionRule =
  | OptionKind
  | readonly OptionKind[]
  | {
      readonly options?: OptionTable;
      /** The options, or the kind, of each item of a list. */
      readonly items?: OptionTable | OptionKind;
      /** The options that the object, or each item, must have. */
      readonly needs?: readonly string[];
      /** The methods of an object that a program may make by itself. */
      readonly methods?: readonly string[];
      /** Whether an item may also be a string. */
      readonly texts?: boolean;
      readonly or?: readonly OptionKind[];
    };

/** The known options. */
export type OptionTable = { readonly [option: string]: OptionRule };

/** A table with a rule for each option of an interface. It does not compile if an option is missing. */
export type TableOf<Options> = { readonly [Option in keyof Required<Options>]: OptionRule };

/** Rules for options that are all numbers and have defaults. */
export function numberOptions(defaults: object, kind: "number" | "count" = "number"): OptionTable {
  return Object.fromEntries(Object.keys(defaults).map((option) => [option, kind]));
}

/** The function that a program calls, for messages about its arguments. */
export interface CallWithOptions {
  /** `createServer`, `server.listen`. */
  readonly call: string;
  /** An example in JavaScript. */
  readonly example: string;
  readonly table: OptionTable;
  /** The options that must be there. */
  readonly needs?: readonly string[];
  readonly code: XdskitErrorCode;
}

/**
 * Checks options from a program, which may be untyped: they must be an object without unknown options, and each value
 * must have the right kind. Undefined counts as omitted. Throws an XdskitError that lists all problems with
 * suggestions, and shows no value.
 */
export function checkCall({ call, example, table, needs = [], code }: CallWithOptions, options: unknown): void {
  if (!isOptions(options))
    throw XdskitError.of(code, `${call} takes an object, such as ${example}, not ${nameOf(options)}`);
  const faults = [...faultsOf(table, needs, options, "")];
  throwIfAny(faults.map((fault) => ({ code, severity: "error", message: `${call}: ${fault}` })));
}

/** The same for a list or another iterable. `wanted` names the items that it must hold. */
export function checkIterable(
  { call, example, code }: Pick<CallWithOptions, "call" | "example" | "code">,
  value: unknown,
  wanted: string,
): void {
  const isIterable = typeof value === "object" && value !== null && Symbol.iterator in value;
  if (!isIterable) throw XdskitError.of(code, `${call} takes ${wanted}, such as ${example}, not ${nameOf(value)}`);
}

type FullRule = Exclude<OptionRule, OptionKind | readonly OptionKind[]>;

function* faultsOf(table: OptionTable, needs: readonly string[], options: object, above: string): Generator<string> {
  const given = new Map(Object.entries(options));
  for (const [option, value] of given) {
    if (value === undefined) continue;
    const field = above === "" ? option : `${above}.${option}`;
    const rule = Object.hasOwn(table, option) ? table[option] : undefined;
    if (rule === undefined) {
      yield `there is no option ${JSON.stringify(field.slice(0, 128))}${meantOrAll(option, Object.keys(table))}`;
    } else yield* faultsOfValue(rule, value, field);
  }
  for (const option of needs) {
    if (given.get(option) === undefined) yield `${above === "" ? option : `${above}.${option}`} is missing`;
  }
}

function* faultsOfValue(rule: OptionRule, value: unknown, field: string): Generator<string> {
  const full: FullRule = typeof rule === "string" ? { or: [rule] } : "length" in rule ? { or: rule } : rule;
  const { options, items, needs = [], methods, texts = false, or = [] } = full;
  if (options !== undefined && isOptions(value)) yield* faultsOf(options, needs, value, field);
  else if (methods !== undefined && isOptions(value)) {
    const lacks = methods.find((method) => typeof (value as Record<string, unknown>)[method] !== "function");
    if (lacks !== undefined) yield `${field} must have a function "${lacks}"`;
  } else if (items !== undefined && Array.isArray(value)) {
    const rule = typeof items === "string" ? items : { options: items, needs, or: texts ? ["string" as const] : [] };
    for (const [index, item] of value.entries()) yield* faultsOfValue(rule, item, `${field}[${index}]`);
  } else if (!or.some((kind) => isOf(kind, value))) {
    const object: OptionKind[] = options === undefined && methods === undefined ? [] : ["object"];
    const list: OptionKind[] = items === undefined ? [] : ["list"];
    const kinds = [...object, ...list, ...or].map((kind) => names[kind]);
    yield `${field} must be ${kinds.join(" or ")}, not ${nameOf(value)}`;
  }
}

const names = {
  string: "a string",
  number: "a number",
  count: "a number from 0 up",
  boolean: "true or false",
  function: "a function",
  object: "an object",
  list: "a list",
  off: '"off"',
  false: "false",
  any: "anything",
} as const;

function isOf(kind: OptionKind, value: unknown): boolean {
  switch (kind) {
    case "object":
      return isOptions(value);
    case "list":
      return Array.isArray(value);
    case "any":
      return true;
    case "off":
      return value === "off";
    case "false":
      return value === false;
    case "count":
      return typeof value === "number" && value >= 0;
    default:
      return typeof value === kind;
  }
}

function isOptions(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Names the kind of a value without showing it: it may be a secret. */
function nameOf(value: unknown): string {
  if (value === undefined) return "nothing";
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "number" && !(value >= 0)) return Number.isNaN(value) ? "NaN" : "a negative number";
  if (typeof value !== "object") return typeof value === "boolean" ? String(value) : `a ${typeof value}`;
  return "$typeName" in value && typeof value.$typeName === "string" ? `one ${value.$typeName}` : "an object";
}
