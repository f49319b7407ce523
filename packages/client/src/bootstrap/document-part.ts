import type { DescMessage, JsonObject, JsonValue, MessageShape } from "@bufbuild/protobuf";
import type { PlacedDocument, XdskitError } from "@xdskit/api";

/** A part of a bootstrap, which knows its place. `null` counts as missing. */
export interface DocumentPart {
  /** Undefined if the part is missing. */
  readonly value: JsonValue | undefined;
  /** A member by its proto name or its JSON name. Throws where this is not a mapping. */
  field(name: string): DocumentPart;
  /** The elements of a list; none if the part is missing. */
  items(): readonly DocumentPart[];
  /** The members of a mapping. */
  entries(): readonly (readonly [string, DocumentPart])[];
  text(): string | undefined;
  /** As `text`, but it must exist and must not be empty. */
  requiredText(): string;
  /** As a message, with only these fields: the others may be of types that this client does not know. */
  message<Desc extends DescMessage>(schema: Desc, ...fields: readonly string[]): MessageShape<Desc>;
  error(message: string): XdskitError;
}

/** The whole document. */
export function rootPart(document: PlacedDocument): DocumentPart {
  return partOf(document, document.value ?? undefined, []);
}

function partOf(
  document: PlacedDocument,
  value: JsonValue | undefined,
  steps: readonly (string | number)[],
): DocumentPart {
  const error = (message: string) => document.error("XDSKIT_BOOTSTRAP", message, steps);
  const object = (): JsonObject => {
    if (value === undefined) return {};
    if (typeof value !== "object" || value === null || Array.isArray(value)) throw error("expected a mapping");
    return value;
  };
  const member = (name: string): DocumentPart => {
    const key = [name, jsonNameOf(name)].find((spelling) => Object.hasOwn(object(), spelling));
    return partOf(document, key === undefined ? undefined : (object()[key] ?? undefined), [...steps, name]);
  };
  const text = () => {
    if (value !== undefined && typeof value !== "string") throw error("expected a string");
    return value;
  };
  return {
    value,
    error,
    text,
    field: member,
    items() {
      if (value === undefined) return [];
      if (!Array.isArray(value)) throw error("expected a list");
      return value.map((item, index) => partOf(document, item ?? undefined, [...steps, index]));
    },
    entries: () =>
      Object.keys(object()).map((key) => [key, partOf(document, object()[key] ?? undefined, [...steps, key])]),
    requiredText() {
      const found = text();
      if (found === undefined || found === "") throw error(found === undefined ? "is missing" : "is empty");
      return found;
    },
    message(schema, ...fields) {
      const whole = object();
      const names = new Set(fields.flatMap((name) => [name, jsonNameOf(name)]));
      const kept = Object.entries(whole).filter(([key]) => fields.length === 0 || names.has(key));
      return document.message(schema, Object.fromEntries(kept), steps);
    },
  };
}

const jsonNameOf = (name: string) => name.replaceAll(/_+([^_]?)/g, (_, letter: string) => letter.toUpperCase());
