import type { DescEnum, DescField } from "@bufbuild/protobuf";
import { bytesChecks } from "./bytes-rules.js";
import { numberChecks } from "./order-rules.js";
import { stringChecks } from "./string-rules.js";
import { durationChecks, timestampChecks } from "./time-rules.js";
import {
  allOf,
  listOf,
  type RuleSet,
  ruleCheck,
  ruleOf,
  type ValueCheck,
  type Violation,
  written,
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
  /** Whether `whole` only requires a string not to be empty. */
  readonly nonEmpty: boolean;
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
    whole: kind === "repeated" ? listCheck(set) : kind === "map" ? mapCheck(set) : valueCheck(rules, field),
    items: items === undefined ? undefined : valueCheck(items, field),
    keys: keys === undefined ? undefined : keyCheck(keys, field),
    nonEmpty: kind === "string" && setRules(set).every((rule) => isLeastLength(rule) && ruleOf(set, rule) === 1n),
    skip: skips(rules) || (items !== undefined && skips(items)),
  };
}

/** The names of the rules that are set, without properties of the message around them. */
function setRules(rules: RuleSet): readonly string[] {
  return Object.keys(rules).filter((name) => !name.startsWith("$"));
}

function isLeastLength(rule: string): boolean {
  return rule === "minLen" || rule === "minBytes";
}

function skips(rules: FieldRules): boolean {
  return rules.message !== undefined && ruleOf(rules.message, "skip") === true;
}

/** One value: of a singular field, an item or a map entry. */
function valueCheck(rules: FieldRules, field: DescField): ValueCheck | undefined {
  const kind = rules.type.case;
  const set = (rules.type.value ?? {}) as RuleSet;
  if (kind === undefined) return undefined;
  const check = allOf(checksOf(kind, set, field.enum));
  if (check === undefined || ruleOf(set, "ignoreEmpty") !== true) return check;
  return (value) => (isEmpty(value) ? undefined : check(value));
}

function checksOf(kind: string, rules: RuleSet, schema: DescEnum | undefined): readonly ValueCheck[] {
  switch (kind) {
    case "string":
      return stringChecks(rules);
    case "bytes":
      return bytesChecks(rules);
    case "bool":
      return boolChecks(rules);
    case "enum":
      return enumChecks(rules, schema);
    case "duration":
      return durationChecks(rules);
    case "timestamp":
      return timestampChecks(rules);
    case "any":
      return anyChecks(rules);
    default:
      return numberChecks(kind, rules);
  }
}

function boolChecks(rules: RuleSet): readonly ValueCheck[] {
  const exact = ruleOf<boolean>(rules, "const");
  return exact === undefined
    ? []
    : [ruleCheck(`bool.const: ${exact}`, `must be ${exact}`, (value: boolean) => value === exact)];
}

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

function anyChecks(rules: RuleSet): readonly ValueCheck[] {
  const allowed = listOf<string>(rules, "in");
  const forbidden = listOf<string>(rules, "notIn");
  const url = (value: { readonly typeUrl: string }) => value.typeUrl;
  const checks: ValueCheck[] = [];
  if (allowed.length > 0) {
    const message = `must hold one of ${allowed.join(", ")}`;
    checks.push(
      ruleCheck(`any.in: ${written(allowed)}`, message, (value: { typeUrl: string }) => allowed.includes(url(value))),
    );
  }
  if (forbidden.length > 0) {
    const message = `must not hold one of ${forbidden.join(", ")}`;
    checks.push(
      ruleCheck(
        `any.not_in: ${written(forbidden)}`,
        message,
        (value: { typeUrl: string }) => !forbidden.includes(url(value)),
      ),
    );
  }
  return checks;
}

function listCheck(rules: RuleSet): ValueCheck | undefined {
  const checks: ValueCheck[] = [];
  const least = ruleOf<bigint>(rules, "minItems");
  const most = ruleOf<bigint>(rules, "maxItems");
  if (least !== undefined) {
    const message = least === 1n ? "must have at least one item" : `must have at least ${least} items`;
    checks.push(
      ruleCheck(`repeated.min_items: ${least}`, message, (list: readonly unknown[]) => list.length >= Number(least)),
    );
  }
  if (most !== undefined) {
    checks.push(
      ruleCheck(
        `repeated.max_items: ${most}`,
        `must have at most ${most} items`,
        (list: readonly unknown[]) => list.length <= Number(most),
      ),
    );
  }
  if (ruleOf(rules, "unique") === true) {
    const unique = (list: readonly unknown[]) =>
      new Set(list.map((item) => (item instanceof Uint8Array ? item.join() : item))).size === list.length;
    checks.push(ruleCheck("repeated.unique: true", "must not have an item twice", unique));
  }
  const check = allOf(checks);
  if (check === undefined || ruleOf(rules, "ignoreEmpty") !== true) return check;
  return (list) => (isEmpty(list) ? undefined : check(list));
}

function mapCheck(rules: RuleSet): ValueCheck | undefined {
  const checks: ValueCheck[] = [];
  const least = ruleOf<bigint>(rules, "minPairs");
  const most = ruleOf<bigint>(rules, "maxPairs");
  const size = (map: object) => Object.keys(map).length;
  if (least !== undefined) {
    const message = least === 1n ? "must have at least one entry" : `must have at least ${least} entries`;
    checks.push(ruleCheck(`map.min_pairs: ${least}`, message, (map: object) => size(map) >= Number(least)));
  }
  if (most !== undefined) {
    checks.push(
      ruleCheck(
        `map.max_pairs: ${most}`,
        `must have at most ${most} entries`,
        (map: object) => size(map) <= Number(most),
      ),
    );
  }
  if (ruleOf(rules, "noSparse") === true) {
    const full = (map: object) => Object.values(map).every((value) => value !== undefined && value !== null);
    checks.push(ruleCheck("map.no_sparse: true", "must have a value for every key", full));
  }
  return allOf(checks);
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
