import { type DescField, getOption, hasOption, type JsonObject, type JsonValue, toJson } from "@bufbuild/protobuf";
import type { Registry } from "@xdskit/api";

/** What the protos ask of the value of a field, in words: `required`, `not empty`, `> 0s`. */
export function fieldRules(registry: Registry, field: DescField): readonly string[] {
  const option = registry.getExtension("validate.rules");
  const schema = registry.getMessage("validate.FieldRules");
  const one = registry.getExtension("validate.required");
  const ofOneof = field.oneof;
  const mustBeOne =
    ofOneof !== undefined && one !== undefined && hasOption(ofOneof, one) && getOption(ofOneof, one) === true
      ? [`one field of ${ofOneof.name} is required`]
      : [];
  if (option === undefined || schema === undefined || !hasOption(field, option)) return mustBeOne;
  const json = toJson(schema, getOption(field, option) as never, { registry, useProtoFieldName: true });
  return [...mustBeOne, ...rulesIn(json as JsonObject, field)];
}

/** Of a `FieldRules`: the rules of the message, and those of one kind of value. */
function rulesIn({ message, ...kinds }: JsonObject, field: DescField): readonly string[] {
  const isRequired = (message as JsonObject | undefined)?.required === true;
  const [set = {}] = Object.values(kinds) as JsonObject[];
  const texts = Object.entries(set).flatMap(([name, value]) => ruleText(name, value, field));
  return [...new Set([...(isRequired ? ["required"] : []), ...texts])];
}

function ruleText(name: string, value: JsonValue, field: DescField): readonly string[] {
  const inside = { items: "each item", keys: "each key", values: "each value" }[name];
  if (inside !== undefined) return rulesIn(value as JsonObject, field).map((rule) => `${inside}: ${rule}`);
  if (value === false) return [];
  const sign = { gt: ">", gte: "≥", lt: "<", lte: "≤", const: "=" }[name];
  if (sign !== undefined) return [`${sign} ${textOf(value)}`];
  const [, limit, unit = ""] = /^(min|max)_(len|bytes|items|pairs)$/.exec(name) ?? [];
  if (limit !== undefined) {
    if (limit === "min" && String(value) === "1") return ["not empty"];
    return [`at ${limit === "min" ? "least" : "most"} ${textOf(value)} ${unit === "len" ? "characters" : unit}`];
  }
  switch (name) {
    case "in":
    case "not_in":
      return [`${name === "in" ? "one" : "none"} of ${valuesText(value, field)}`];
    case "pattern":
      return [`matches ${textOf(value)}`];
    case "prefix":
    case "suffix":
    case "contains":
      return [`${name} ${textOf(value)}`];
    case "ignore_empty":
      return ["or empty"];
    case "defined_only":
      return ["one of its values"];
    case "well_known_regex":
      return [textOf(value).toLowerCase().replaceAll("_", " ")];
    // How exactly something else is matched, or what the generated code of other languages does.
    case "strict":
    case "no_sparse":
      return [];
    default:
      return [value === true ? name.replaceAll("_", " ") : `${name}: ${textOf(value)}`];
  }
}

/** Values of an enum by their names. */
function valuesText(value: JsonValue, field: DescField): string {
  const values = Array.isArray(value) ? value : [value];
  return values
    .map((one) => field.enum?.values.find(({ number }) => number === Number(one))?.name ?? textOf(one))
    .join(", ");
}

function textOf(value: JsonValue): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
