import type { DescEnum, DescField } from "@bufbuild/protobuf";
import type { Any } from "@bufbuild/protobuf/wkt";
import { bytesChecks } from "./bytes-rules.js";
import { numberChecks } from "./order-rules.js";
import { stringChecks } from "./string-rules.js";
import { durationChecks, timestampChecks } from "./time-rules.js";
import {
  allOf,
  type LimitRules,
  limitChecks,
  listOf,
  type RuleSet,
  ruleCheck,
  ruleOf,
  type ValueCheck,
  type Violation,
} from "./values/value-check.js";

/** The compiled `validate.rules` of one field. */
export interface FieldCheck {
  readonly field: DescField;
  /** The violation if a message field is not set. */
  readonly required: Violation | undefined;
  /** For the whole value: a scalar, an enum, a message such as a duration, a list, or a map. */
  readonly whole: ValueCheck | undefined;
  /** For each item of a list, or each value of a map. */
  readonly items: ValueCheck | undefined;
  /** For each key of a map, which is a string in JavaScript. */
  readonly keys: ValueCheck | undefined;
  /** Nested messages are not checked. */
  readonly skip: boolean;
}

/** The `FieldRules` of validate.proto, as a registry reads them. */
export interface FieldRules {
  readonly message?: RuleSet | undefined;
  readonly type: { readonly case?: string | undefined; readonly value?: unknown };
}

/** Compiles the rules of a field. */
export function compileField(field: DescField, rules: FieldRules): FieldCheck {
  const kind = rules.type.case;
  const set = (rules.type.value ?? {}) as RuleSet;
  const isRequired =
    (rules.message !== undefined && ruleOf(rules.message, "required") === true) || ruleOf(set, "required") === true;
  const requiredBy = ruleOf(set, "required") === true ? kind : "message";
  const items =
    kind === "repeated"
      ? ruleOf<FieldRules>(set, "items")
      : kind === "map"
        ? ruleOf<FieldRules>(set, "values")
        : undefined;
  const keys = kind === "map" ? ruleOf<FieldRules>(set, "keys") : undefined;
  return {
    field,
    required: isRequired ? { message: "is required", rule: `${requiredBy}.required: true` } : undefined,
    whole:
      kind === "repeated"
        ? unlessEmpty(set, allOf(limitChecks("repeated", set, listLimits)))
        : kind === "map"
          ? allOf(limitChecks("map", set, mapLimits))
          : valueCheck(rules, field),
    items: items === undefined ? undefined : valueCheck(items, field),
    keys: keys === undefined ? undefined : keyCheck(keys, field),
    skip: skips(rules) || (items !== undefined && skips(items)),
  };
}

function skips(rules: FieldRules): boolean {
  return rules.message !== undefined && ruleOf(rules.message, "skip") === true;
}

/** One value: of a singular field, an item or a map entry. */
function valueCheck(rules: FieldRules, field: DescField): ValueCheck | undefined {
  const kind = rules.type.case;
  const set = (rules.type.value ?? {}) as RuleSet;
  if (kind === undefined) return undefined;
  return unlessEmpty(set, allOf(checksOf(kind, set, field.enum)));
}

function unlessEmpty(rules: RuleSet, check: ValueCheck | undefined): ValueCheck | undefined {
  if (check === undefined || ruleOf(rules, "ignoreEmpty") !== true) return check;
  return (value) => (isEmpty(value) ? undefined : check(value));
}

function checksOf(kind: string, rules: RuleSet, schema: DescEnum | undefined): readonly ValueCheck[] {
  switch (kind) {
    case "string":
      return stringChecks(rules);
    case "bytes":
      return bytesChecks(rules);
    case "bool":
      return limitChecks("bool", rules, boolLimits);
    case "enum":
      return enumChecks(rules, schema);
    case "duration":
      return durationChecks(rules);
    case "timestamp":
      return timestampChecks(rules);
    case "any":
      return limitChecks("any", rules, anyLimits);
    default:
      return numberChecks(kind, rules);
  }
}

const boolLimits: LimitRules<boolean> = {
  const: ["must be {}", (limit: boolean) => (value) => value === limit],
};

function enumChecks(rules: RuleSet, schema: DescEnum | undefined): readonly ValueCheck[] {
  const checks = [...numberChecks("enum", rules)];
  const nameOf = (value: number) => schema?.value[value]?.name ?? String(value);
  if (ruleOf(rules, "definedOnly") === true && schema !== undefined) {
    const message = `must be a value of ${schema.typeName}`;
    checks.push(ruleCheck("enum.defined_only: true", message, (value: number) => schema.value[value] !== undefined));
  }
  // Names mean more to a reader than numbers.
  const named = (text: string, numbers: readonly number[]) =>
    numbers.length === 0 ? text : text.replace(/-?\d+(?:, -?\d+)*$/, numbers.map(nameOf).join(", "));
  return checks.map((check) => (value) => {
    const violation = check(value);
    if (violation === undefined || !/_in|in:|const/.test(violation.rule)) return violation;
    const exact = ruleOf<number>(rules, "const");
    const numbers = violation.rule.startsWith("enum.not_in")
      ? listOf<number>(rules, "notIn")
      : violation.rule.startsWith("enum.in")
        ? listOf<number>(rules, "in")
        : exact === undefined
          ? []
          : [exact];
    return { ...violation, message: named(violation.message, numbers) };
  });
}

const anyLimits: LimitRules<Any> = {
  in: [
    (limit: readonly string[]) => `must hold one of ${limit.join(", ")}`,
    (limit: readonly string[]) =>
      ({ typeUrl }) =>
        limit.includes(typeUrl),
  ],
  notIn: [
    (limit: readonly string[]) => `must not hold one of ${limit.join(", ")}`,
    (limit: readonly string[]) =>
      ({ typeUrl }) =>
        !limit.includes(typeUrl),
  ],
};

const listLimits: LimitRules<readonly unknown[]> = {
  minItems: [atLeast("item"), (limit: bigint) => (list) => list.length >= Number(limit)],
  maxItems: ["must have at most {} items", (limit: bigint) => (list) => list.length <= Number(limit)],
  unique: [
    "must not contain an item twice",
    () => (list) => new Set(list.map((item) => (item instanceof Uint8Array ? item.join() : item))).size === list.length,
  ],
};

const mapLimits: LimitRules<object> = {
  minPairs: [atLeast("entry", "entries"), (limit: bigint) => (map) => Object.keys(map).length >= Number(limit)],
  maxPairs: ["must have at most {} entries", (limit: bigint) => (map) => Object.keys(map).length <= Number(limit)],
  noSparse: [
    "must have a value for every key",
    () => (map) => Object.values(map).every((value) => value !== undefined && value !== null),
  ],
};

function atLeast(one: string, many = `${one}s`): (limit: bigint) => string {
  return (limit) => (limit === 1n ? `must have at least one ${one}` : `must have at least ${limit} ${many}`);
}

/** Keys are strings in JavaScript. Rules for other key types compare the values behind them. */
function keyCheck(rules: FieldRules, field: DescField): ValueCheck | undefined {
  const check = valueCheck(rules, field);
  const kind = rules.type.case ?? "";
  if (check === undefined || kind === "string") return check;
  if (kind === "bool") return (key) => check(key === "true");
  return kind.endsWith("64") ? (key) => check(BigInt(key as string)) : (key) => check(Number(key));
}

function isEmpty(value: unknown): boolean {
  if (typeof value === "object" && value !== null) return "length" in value && value.length === 0;
  return value === "" || value === 0 || value === 0n || value === false || value === undefined;
}
