import {
  type DescEnum,
  type DescField,
  type DescMessage,
  fromJson,
  type JsonObject,
  type JsonValue,
  type Registry,
  ScalarType,
} from "@bufbuild/protobuf";
import { isWrapperDesc } from "@bufbuild/protobuf/wkt";
import { type FieldPath, stepInto, stepsOf } from "./field-path.js";
import type { FieldProblem } from "./field-problem.js";
import { hasBigint, narrowBigints } from "./json-bigints.js";
import { didYouMean } from "./nearest-name.js";
import { nestingLimit } from "./source-document.js";
import { unknownTypeMessage } from "./unknown-type.js";

/** How many problems of one message are worth reading. */
const problemLimit = 100;

/** All that is wrong with a message's JSON, field by field. Slow, and run only after the real reader has refused. */
export function explainJson(schema: DescMessage, json: JsonValue, registry: Registry): readonly FieldProblem[] {
  const explanation = new Explanation(registry);
  explanation.message(schema, hasBigint(json) ? narrowBigints(schema, json, registry) : json, undefined, 0);
  return explanation.problems;
}

/** What v3 has in the place of fields of v2 that it dropped. */
const successors: Readonly<Record<string, readonly string[]>> = {
  hosts: ["load_assignment"],
  tls_context: ["transport_socket"],
  regex: ["safe_regex", "string_match"],
  regex_match: ["safe_regex_match"],
  value: ["string_match"],
  allow_origin: ["allow_origin_string_match"],
};

function successor(removed: string, names: readonly string[]): string {
  const name = Object.hasOwn(successors, removed)
    ? successors[removed]?.find((name) => names.includes(name))
    : undefined;
  return name === undefined ? "" : `; use "${name}"`;
}

class Explanation {
  readonly problems: FieldProblem[] = [];
  private readonly registry: Registry;

  constructor(registry: Registry) {
    this.registry = registry;
  }

  /** What it costs to say more is saved. */
  private get isFull(): boolean {
    return this.problems.length >= problemLimit;
  }

  private add(path: FieldPath | undefined, message: string, code: FieldProblem["code"] = "XDSKIT_FIELD_INVALID"): void {
    if (!this.isFull) this.problems.push({ code, steps: stepsOf(path), message });
  }

  message(schema: DescMessage, json: JsonValue, path: FieldPath | undefined, depth: number): void {
    if (depth > nestingLimit) {
      this.add(path, "nested too deep");
    } else if (schema.typeName === "google.protobuf.Any") {
      this.any(json, path, depth);
    } else if (isWrapperDesc(schema)) {
      this.leaf(schema, "value", json, path, expectedScalar(schema.fields[0]?.scalar));
    } else if (schema.typeName in expectedForm) {
      const expected = expectedForm[schema.typeName];
      const refusal = this.refusal(schema, json);
      if (refusal === "depth") this.add(path, "nested too deep");
      else if (refusal === "value" || isTrailed(schema, json))
        this.add(path, `expected ${expected}, found ${kindOf(json)}${suggestion(schema, json)}`);
    } else if (isObject(json)) {
      this.fields(schema, json, path, depth);
    } else {
      this.add(path, `expected a mapping (${schema.typeName}), found ${kindOf(json)}`);
    }
  }

  private fields(schema: DescMessage, json: JsonObject, path: FieldPath | undefined, depth: number): void {
    const set = new Map<string, string>();
    for (const [key, value] of Object.entries(json)) {
      const field = schema.fields.find((candidate) => candidate.name === key || candidate.jsonName === key);
      if (field === undefined) {
        this.unknownField(schema, key, path);
        continue;
      }
      const at = stepInto(path, field.name);
      const owner = field.oneof !== undefined && value !== null ? `oneof ${field.oneof.name}` : field.name;
      const before = set.get(owner);
      if (before !== undefined) {
        this.add(
          at,
          before === field.name
            ? "is there twice, in both spellings"
            : `only one of ${before} and ${field.name} may be set`,
        );
      }
      set.set(owner, field.name);
      this.field(schema, field, value, at, depth);
    }
  }

  private unknownField(schema: DescMessage, key: string, path: FieldPath | undefined): void {
    if (this.isFull) return;
    const removed = schema.proto.reservedName.includes(key);
    const names = schema.fields.flatMap((field) => [field.name, field.jsonName]);
    const hint = removed
      ? `; it was removed from the API${successor(key, names)}`
      : key === "config" && names.includes("typed_config")
        ? '; it is "typed_config" now'
        : didYouMean(key, names);
    this.add(stepInto(path, key), `${schema.typeName} has no such field${hint}`, "XDSKIT_FIELD_UNKNOWN");
  }

  private field(schema: DescMessage, field: DescField, json: JsonValue, path: FieldPath, depth: number): void {
    if (json === null) return;
    if (field.fieldKind === "scalar") {
      this.leaf(schema, field.jsonName, json, path, expectedScalar(field.scalar));
    } else if (field.fieldKind === "enum") {
      this.leaf(schema, field.jsonName, json, path, expectedEnum(field.enum, json));
    } else if (field.fieldKind === "message") {
      this.message(field.message, json, path, depth + 1);
    } else if (field.fieldKind === "list") {
      if (!Array.isArray(json)) this.add(path, `expected a list, found ${kindOf(json)}`);
      else
        for (const [index, item] of json.entries())
          this.element(schema, field, [item], item, stepInto(path, index), depth);
    } else {
      if (!isObject(json)) this.add(path, `expected a mapping, found ${kindOf(json)}`);
      else {
        for (const [key, value] of Object.entries(json)) {
          this.element(schema, field, { [key]: value }, value, stepInto(path, { key }), depth);
        }
      }
    }
  }

  /** An item of a list, or the value of a map's entry; `json` is the list or the map with this one in it. */
  private element(
    schema: DescMessage,
    field: DescField,
    json: JsonValue,
    item: JsonValue,
    path: FieldPath,
    depth: number,
  ): void {
    if (field.message !== undefined && item !== null) {
      this.message(field.message, item, path, depth + 1);
    } else if (!this.accepts(schema, field.jsonName, json)) {
      const expected = field.enum !== undefined ? expectedEnum(field.enum, item) : expectedScalar(field.scalar);
      this.add(path, `expected ${field.message?.typeName ?? expected}, found ${kindOf(item)}`);
    }
  }

  private leaf(schema: DescMessage, key: string, json: JsonValue, path: FieldPath | undefined, expected: string): void {
    const accepted = isWrapperDesc(schema) ? this.acceptsWhole(schema, json) : this.accepts(schema, key, json);
    if (!accepted) this.add(path, `expected ${expected}, found ${kindOf(json)}`);
  }

  private accepts(schema: DescMessage, key: string, json: JsonValue): boolean {
    return this.acceptsWhole(schema, { [key]: json });
  }

  private acceptsWhole(schema: DescMessage, json: JsonValue): boolean {
    return this.refusal(schema, json) === undefined;
  }

  private refusal(schema: DescMessage, json: JsonValue): "value" | "depth" | undefined {
    try {
      fromJson(schema, json, { registry: this.registry });
      return undefined;
    } catch (error) {
      return error instanceof Error && /recursion|call stack/.test(error.message) ? "depth" : "value";
    }
  }

  private any(json: JsonValue, path: FieldPath | undefined, depth: number): void {
    if (!isObject(json)) {
      this.add(path, `expected a mapping with "@type", found ${kindOf(json)}`);
      return;
    }
    if (Object.keys(json).length === 0) return;
    const { "@type": url, ...fields } = json;
    if (typeof url !== "string" || url === "") {
      this.add(path, 'lacks "@type", the type URL that says what it is', "XDSKIT_TYPE_MISSING");
      return;
    }
    const schema = this.registry.getMessage(url.slice(url.lastIndexOf("/") + 1));
    if (schema === undefined) {
      if (this.isFull) return;
      this.add(stepInto(path, "@type"), unknownTypeMessage(url, this.registry), "XDSKIT_TYPE_UNKNOWN");
      return;
    }
    const special =
      schema.typeName in expectedForm || isWrapperDesc(schema) || schema.typeName === "google.protobuf.Any";
    if (special && Object.hasOwn(fields, "value"))
      this.message(schema, fields.value ?? null, stepInto(path, "value"), depth + 1);
    else this.message(schema, fields, path, depth + 1);
  }
}

const expectedForm: Readonly<Record<string, string>> = {
  "google.protobuf.Duration": 'a duration in seconds such as "0.25s"',
  "google.protobuf.Timestamp": 'a time such as "2026-01-31T12:00:00Z"',
  "google.protobuf.FieldMask": 'field names in camelCase, joined by commas, such as "a,b.cD"',
  "google.protobuf.Struct": "a mapping",
  "google.protobuf.ListValue": "a list",
  "google.protobuf.Value": "any JSON value",
};

/** Go's units of time, which other configurations have, in seconds. */
const secondsIn: Readonly<Record<string, number>> = { ns: 1e-9, us: 1e-6, ms: 1e-3, s: 1, m: 60, h: 3600, d: 86_400 };

/** How protobuf's JSON says a duration that was written as others do: `500ms`, `1m30s`, or the bare seconds. */
function suggestion({ typeName }: DescMessage, json: JsonValue): string {
  if (typeName !== "google.protobuf.Duration" || (typeof json !== "string" && typeof json !== "number")) return "";
  const text = /^\d{1,9}(?:\.\d{1,9})?$/.test(String(json)) ? `${json}s` : String(json);
  if (!/^(?:\d{1,9}(?:\.\d{1,9})?(?:[num]?s|[mhd]))+$/.test(text) || text.length > 40) return "";
  let seconds = 0;
  for (const [, count, unit] of text.matchAll(/([\d.]+)([a-z]+)/g))
    seconds += Number(count) * (secondsIn[unit ?? ""] ?? Number.NaN);
  const shown = seconds.toFixed(9).replace(/\.?0+$/, "");
  return `; write "${shown}s"`;
}

/** A duration with something behind it, of which the reader does not complain: `1s500ms` is no second and a half. */
function isTrailed(schema: DescMessage, json: JsonValue): boolean {
  return schema.typeName === "google.protobuf.Duration" && typeof json === "string" && !/^-?\d+(?:\.\d+)?s$/.test(json);
}

/** Whether a text may have durations with something behind them. */
export function mayHaveTrailedDurations(text: string): boolean {
  return /[\s"':]-?\d+(?:\.\d+)?s(?:[^\s"',}\]#]| +[^\s#,}\]])/.test(text);
}

function isObject(json: JsonValue): json is JsonObject {
  return typeof json === "object" && json !== null && !Array.isArray(json);
}

/** What is there, without showing it: it may be a secret. */
function kindOf(json: JsonValue): string {
  if (json === null) return "nothing";
  if (Array.isArray(json)) return "a list";
  if (typeof json === "object") return "a mapping";
  if (typeof json === "boolean") return `the boolean ${json}`;
  return typeof json === "string" ? "a string" : "a number";
}

function expectedEnum(schema: DescEnum, json: JsonValue): string {
  const names = schema.values.map((value) => value.name);
  const hint = typeof json === "string" ? didYouMean(json.toUpperCase(), names) : "";
  const listed = names.length > 12 ? [...names.slice(0, 12), "…"] : names;
  return `one of ${listed.join(", ")}${hint === "" ? "" : ` (${hint.slice(2)})`}`;
}

function expectedScalar(scalar: ScalarType | undefined): string {
  switch (scalar) {
    case ScalarType.BOOL:
      return "true or false";
    case ScalarType.STRING:
      return "a string (numbers and booleans in quotes)";
    case ScalarType.BYTES:
      return "base64 text";
    case ScalarType.DOUBLE:
    case ScalarType.FLOAT:
      return "a number";
    case ScalarType.UINT32:
    case ScalarType.FIXED32:
      return "a whole number from 0 to 4294967295";
    case ScalarType.UINT64:
    case ScalarType.FIXED64:
      return "a whole number from 0 to 18446744073709551615";
    case ScalarType.INT64:
    case ScalarType.SINT64:
    case ScalarType.SFIXED64:
      return "a whole number of 64 bits";
    default:
      return "a whole number from -2147483648 to 2147483647";
  }
}
