import { type DescField, type DescMessage, ScalarType } from "@bufbuild/protobuf";
import { commentOf, formatEnvoyVersion, maxFindings, type Registry, sinceOf } from "@xdskit/api";
import type { Field } from "../contract/answers.js";
import { fieldRules } from "./field-rules.js";

/**
 * Describes a field of a message, as the protos have it. `path`: the names of fields from the message on, in the
 * proto's spelling or as in JSON. Undefined: there is no such field.
 */
export function describeField(registry: Registry, message: string, path: readonly string[]): Field | undefined {
  let inside = registry.getMessage(message);
  let field: DescField | undefined;
  let isKey = false;
  for (const step of path) {
    // After a map's name comes a key, which is no field.
    if (isKey) {
      isKey = false;
      continue;
    }
    field = inside?.fields.find((one) => one.name === step || one.jsonName === step);
    if (field === undefined) return undefined;
    isKey = field.fieldKind === "map";
    inside = field.message;
  }
  return field && fieldJson(registry, field);
}

function fieldJson(registry: Registry, field: DescField): Field {
  const fullName = `${field.parent.typeName}.${field.name}`;
  const since = sinceOf(fullName);
  return {
    name: field.name,
    message: field.parent.typeName,
    type: typeText(field),
    oneof: field.oneof?.name ?? null,
    rules: [...fieldRules(registry, field)],
    // Where a field says nothing of its own, its message or enum often does.
    comment: commentOf(fullName) ?? commentOf((field.message ?? field.enum)?.typeName ?? "") ?? null,
    values: field.enum?.values.slice(0, maxFindings).map(({ name }) => name) ?? [],
    deprecated: field.proto.options?.deprecated ?? false,
    since: since === undefined ? null : formatEnvoyVersion(since),
    docs: docsOf(field.parent, field.name),
  };
}

function typeText(field: DescField): string {
  const one =
    field.message?.typeName ?? field.enum?.typeName ?? (field.scalar && ScalarType[field.scalar].toLowerCase());
  if (field.fieldKind === "list") return `list of ${one}`;
  return field.fieldKind === "map" ? `map to ${one}` : (one ?? "");
}

/** Where Envoy's documentation has the field; null for messages that are not Envoy's. */
function docsOf({ typeName, file }: DescMessage, field: string): string | null {
  if (!typeName.startsWith("envoy.")) return null;
  const anchor = `${typeName.slice("envoy.".length)}.${field}`.toLowerCase().replaceAll(/[._]/g, "-");
  const page = `${file.name.slice("envoy/".length)}.proto`;
  return `https://www.envoyproxy.io/docs/envoy/latest/api-v3/${page}#envoy-v3-api-field-${anchor}`;
}
