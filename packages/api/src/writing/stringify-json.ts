import { randomUUID } from "node:crypto";
import type { JsonValue } from "@bufbuild/protobuf";

/**
 * JSON as text in which -0 stays -0: `JSON.stringify` writes `0`, so that a double would be read as another value.
 * `indent`: spaces per level; 0 writes one line.
 */
export function stringifyJson(json: object | JsonValue, indent = 0): string {
  if (!holdsNegativeZero(json)) return JSON.stringify(json, undefined, indent);
  // `JSON.rawJSON` would do this from Node 22 on. No string of the message can equal one that is random.
  const standIn = randomUUID();
  const text = JSON.stringify(json, (_key, value: JsonValue) => (Object.is(value, -0) ? standIn : value), indent);
  return text.replaceAll(`"${standIn}"`, "-0");
}

function holdsNegativeZero(json: unknown): boolean {
  if (typeof json !== "object" || json === null) return Object.is(json, -0);
  return Array.isArray(json) ? json.some(holdsNegativeZero) : Object.values(json).some(holdsNegativeZero);
}
