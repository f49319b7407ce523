import { type DescField, type JsonObject, type JsonValue, ScalarType } from "@bufbuild/protobuf";
import { boundsOf, durationOf, secondsOf } from "./numbers.js";
import type { Rules } from "./rules.js";
import { rulesFor, scalarOf, stepOf, type Where } from "./scalars.js";

/** A value that breaks exactly one rule. */
export interface Broken {
  /** As `validate` names it: `string.min_len`. */
  readonly rule: string;
  readonly value: JsonValue;
}

/** Values of the field (or of an item or a key) that break a rule, one for each rule. */
export function brokenValues(field: DescField, rules: Rules, where: Where): Broken[] {
  const { kind, set } = rulesFor(rules, where);
  const breaks = (): { rule: string; value: JsonValue }[] => {
    switch (kind) {
      case undefined:
      case "repeated":
      case "map":
        return [];
      case "string":
        return brokenTexts(set);
      case "bytes":
        return brokenBytes(set);
      case "bool":
        return set.const === undefined ? [] : [{ rule: "const", value: set.const !== true }];
      case "enum":
        return brokenEnums(field, set);
      case "duration":
        return boundsOf(set, 0.001, secondsOf).beyond.map(({ rule, value }) => ({ rule, value: durationOf(value) }));
      case "any":
      case "timestamp":
        return [];
      default:
        return brokenNumbers(scalarOf(field, where), set);
    }
  };
  return breaks().map(({ rule, value }) => ({ rule: `${kind}.${rule}`, value }));
}

function brokenNumbers(scalar: ScalarType | undefined, set: JsonObject): Broken[] {
  if (scalar === undefined) return [];
  const isUnsigned = [ScalarType.UINT32, ScalarType.UINT64, ScalarType.FIXED32, ScalarType.FIXED64].includes(scalar);
  const beyond = boundsOf(set, stepOf(scalar)).beyond.filter(({ value }) => !isUnsigned || value >= 0);
  const unlisted = Array.isArray(set.in) ? [{ rule: "in", value: 77 }] : [];
  const listed = Array.isArray(set.not_in) ? set.not_in.map((value) => ({ rule: "not_in", value })) : [];
  return [...beyond.map(({ rule, value }) => ({ rule, value: String(value) })), ...unlisted, ...listed];
}

function brokenEnums(field: DescField, set: JsonObject): Broken[] {
  const broken: Broken[] = [];
  if (set.defined_only === true) broken.push({ rule: "defined_only", value: 9_999 });
  for (const value of Array.isArray(set.not_in) ? set.not_in : []) broken.push({ rule: "not_in", value });
  const values = field.enum?.values.map(({ number }) => number) ?? [];
  if (Array.isArray(set.in)) {
    const other = values.find((number) => !(set.in as JsonValue[]).includes(number));
    if (other !== undefined) broken.push({ rule: "in", value: other });
  }
  const other = values.find((number) => number !== set.const);
  if (set.const !== undefined && other !== undefined) broken.push({ rule: "const", value: other });
  return broken;
}

function brokenTexts(set: JsonObject): Broken[] {
  const broken: Broken[] = [];
  const add = (rule: string, value: string): void => {
    if (set[rule] !== undefined && !(set.ignore_empty === true && value === "")) broken.push({ rule, value });
  };
  const number = (rule: string): number => Number(set[rule] ?? 0);
  if (number("min_len") > 0) add("min_len", "a".repeat(number("min_len") - 1));
  if (number("min_bytes") > 0) add("min_bytes", "a".repeat(number("min_bytes") - 1));
  add("len", "a".repeat(number("len") + 1));
  if (number("max_len") < 1e6) add("max_len", "a".repeat(number("max_len") + 1));
  if (number("max_bytes") < 1e6) add("max_bytes", "a".repeat(number("max_bytes") + 1));
  add("const", `${String(set.const)}x`);
  add("prefix", `§${String(set.suffix ?? "")}`);
  add("suffix", `${String(set.prefix ?? "")}§`);
  add("contains", "§");
  add("not_contains", `a${String(set.not_contains)}a`);
  add("in", "§");
  for (const value of Array.isArray(set.not_in) ? set.not_in : []) broken.push({ rule: "not_in", value });
  if (set.pattern !== undefined) {
    // Trials find a text that a pattern refuses: most refuse spaces, line ends or anything but letters.
    const pattern = new RegExp(String(set.pattern).replace(/\\z$/, "$"), "u");
    const value = ["§ §", "a b", "a\nb", "?", "", "/?#", "a".repeat(300)].find((each) => !pattern.test(each));
    if (value !== undefined) add("pattern", value);
  }
  // If not strict, the rule forbids only characters that would break the lines of HTTP/1.
  add("well_known_regex", "a\nb");
  for (const [rule, value] of Object.entries(noForm)) add(rule, value);
  return broken;
}

const noForm: Readonly<Record<string, string>> = {
  email: "no address",
  hostname: "no_host name",
  ip: "1.2.3",
  ipv4: "1.2.3",
  ipv6: "1.2.3",
  uri: "no uri",
  uri_ref: "%zz",
  address: "no address",
  uuid: "no uuid",
};

function brokenBytes(set: JsonObject): Broken[] {
  const broken: Broken[] = [];
  const add = (rule: string, length: number): void => {
    if (set[rule] !== undefined && length >= 0 && length < 1e6)
      broken.push({ rule, value: Buffer.alloc(length, 1).toString("base64") });
  };
  add("min_len", Number(set.min_len) - 1);
  add("max_len", Number(set.max_len) + 1);
  add("len", Number(set.len) + 1);
  return broken;
}
