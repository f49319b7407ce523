import {
  type DescField,
  type DescMessage,
  fromJson,
  type JsonObject,
  type JsonValue,
  type Registry,
} from "@bufbuild/protobuf";
import { isWrapperDesc } from "@bufbuild/protobuf/wkt";
import { type FieldPath, stepInto, stepsOf } from "../errors/field-path.js";
import type { FieldProblem } from "../errors/field-problem.js";
import { maxFindings } from "../errors/limits.js";
import { didYouMean } from "../errors/nearest-name.js";
import { unknownTypeMessage } from "../messages/unknown-type.js";
import { typeNameOf } from "../names/identifiers.js";
import { isObject, nestingLimit, writtenAs } from "../text/source-document.js";
import { isFlat, wrapperForm } from "./forms/canonical-json.js";
import { enumForm, scalarForm, wellKnownForm } from "./forms/json-forms.js";
import { hasOwnJsonForm } from "./forms/own-form.js";
import { expectedEnum, expectedForm, expectedScalar, isTrailed, kindOf, suggestion } from "./json-expected.js";

/**
 * All problems of a message's JSON, field by field. Slow: run it only after the real reader has refused.
 *
 * @param fromNewer whether it may come from a newer program, so that unknown fields are no problems
 */
export function explainJson(
  schema: DescMessage,
  json: JsonValue,
  registry: Registry,
  fromNewer = false,
): readonly FieldProblem[] {
  const explanation = new Explanation(registry, fromNewer);
  explanation.message(schema, json, undefined, 0);
  return explanation.problems;
}

/** The successors of v2 fields that v3 dropped. */
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
  private readonly fromNewer: boolean;

  constructor(registry: Registry, fromNewer: boolean) {
    this.registry = registry;
    this.fromNewer = fromNewer;
  }

  /** Spares the cost of further messages. */
  private get isFull(): boolean {
    return this.problems.length >= maxFindings;
  }

  private add(path: FieldPath | undefined, message: string, code: FieldProblem["code"] = "XDSKIT_FIELD_INVALID"): void {
    if (!this.isFull) this.problems.push({ code, steps: stepsOf(path), message });
  }

  message(schema: DescMessage, json: JsonValue, path: FieldPath | undefined, depth: number, written?: string): void {
    if (depth > nestingLimit) {
      this.add(path, "nested too deep");
    } else if (schema.typeName === "google.protobuf.Any") {
      this.any(json, path, depth);
    } else if (isWrapperDesc(schema)) {
      this.leaf(schema, "value", wrapperForm(schema, json, written), path, expectedScalar(schema.fields[0]?.scalar));
    } else if (schema.typeName in expectedForm) {
      const expected = expectedForm[schema.typeName];
      const refusal = this.refusal(schema, wellKnownForm(schema.typeName, json));
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
    for (const key of Object.keys(json)) {
      if (this.isFull) return;
      const value = json[key] ?? null;
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
      this.field(schema, field, value, at, depth, writtenAs(json, key));
    }
  }

  private unknownField(schema: DescMessage, key: string, path: FieldPath | undefined): void {
    if (this.fromNewer || this.isFull) return;
    const removed = schema.proto.reservedName.includes(key);
    const names = schema.fields.flatMap((field) => [field.name, field.jsonName]);
    const hint = removed
      ? `; it was removed from the API${successor(key, names)}`
      : key === "config" && names.includes("typed_config")
        ? '; it is "typed_config" now'
        : didYouMean(key, names);
    this.add(stepInto(path, key), `${schema.typeName} has no such field${hint}`, "XDSKIT_FIELD_UNKNOWN");
  }

  private field(
    schema: DescMessage,
    field: DescField,
    json: JsonValue,
    path: FieldPath,
    depth: number,
    written: string | undefined,
  ): void {
    if (json === null) return;
    if (field.fieldKind === "scalar") {
      this.leaf(schema, field.jsonName, scalarForm(field.scalar, json, written), path, expectedScalar(field.scalar));
    } else if (field.fieldKind === "enum") {
      this.leaf(schema, field.jsonName, enumForm(field.enum, json, written), path, expectedEnum(field.enum, json));
    } else if (field.fieldKind === "message") {
      this.message(field.message, json, path, depth + 1, written);
    } else if (field.fieldKind === "list") {
      if (Array.isArray(json)) this.items(schema, field, json, path, depth);
      else if (!mayBeItem(field, json)) this.add(path, `expected a list, found ${kindOf(json)}`);
      else this.element(schema, field, (item) => [item], json, path, depth, written);
    } else {
      if (!isObject(json)) this.add(path, `expected a mapping, found ${kindOf(json)}`);
      else {
        for (const [key, value] of Object.entries(json)) {
          if (value === null) continue;
          const at = stepInto(path, { key });
          this.element(schema, field, (item) => ({ [key]: item }), value, at, depth, writtenAs(json, key));
        }
      }
    }
  }

  /** The items of a list, and of nested lists. */
  private items(
    schema: DescMessage,
    field: DescField,
    list: readonly JsonValue[],
    path: FieldPath,
    depth: number,
  ): void {
    for (const [index, item] of list.entries()) {
      if (this.isFull) return;
      const at = stepInto(path, index);
      if (Array.isArray(item) && isFlat(field)) this.items(schema, field, item, at, depth);
      else this.element(schema, field, (item) => [item], item, at, depth, writtenAs(list, index));
    }
  }

  /** A list item or the value of a map entry. `inside` makes a list or a map that holds only it. */
  private element(
    schema: DescMessage,
    field: DescField,
    inside: (item: JsonValue) => JsonValue,
    item: JsonValue,
    path: FieldPath,
    depth: number,
    written: string | undefined,
  ): void {
    if (field.message !== undefined && item !== null) {
      this.message(field.message, item, path, depth + 1, written);
      return;
    }
    const form =
      field.enum === undefined ? scalarForm(field.scalar, item, written) : enumForm(field.enum, item, written);
    if (this.accepts(schema, field.jsonName, inside(form))) return;
    const expected = field.enum === undefined ? expectedScalar(field.scalar) : expectedEnum(field.enum, item);
    this.add(path, `expected ${field.message?.typeName ?? expected}, found ${kindOf(item)}`);
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
    const schema = this.registry.getMessage(typeNameOf(url));
    if (schema === undefined) {
      if (this.isFull) return;
      this.add(stepInto(path, "@type"), unknownTypeMessage(url, this.registry), "XDSKIT_TYPE_UNKNOWN");
      return;
    }
    if (!hasOwnJsonForm(schema)) {
      this.message(schema, fields, path, depth + 1);
      return;
    }
    const { value = null, ...others } = fields;
    for (const key of Object.keys(others)) {
      this.add(stepInto(path, key), `beside "@type", a ${schema.typeName} has its "value" alone`);
    }
    if (value !== null) this.message(schema, value, stepInto(path, "value"), depth + 1, writtenAs(json, "value"));
  }
}

/** Whether a value may be meant as the only item of a list. */
function mayBeItem({ message }: DescField, json: JsonValue): boolean {
  return message === undefined || hasOwnJsonForm(message) || isObject(json);
}
