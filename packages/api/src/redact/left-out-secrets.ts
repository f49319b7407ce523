import type { DescMessage, Message } from "@bufbuild/protobuf";
import type { Any } from "@bufbuild/protobuf/wkt";
import { type FieldPath, type FieldStep, stepInto, stepsOf } from "../errors/field-path.js";
import { maxFindings } from "../errors/limits.js";
import { pathInto, type Unpack } from "../messages/any.js";
import { fieldValue } from "../messages/walk-plan.js";
import { redacted, valueDepth } from "./secret-text.js";

/**
 * The fields of a message with `[redacted]` instead of a secret, at most 100: as the whole text, on a line of its own
 * (a PEM key), in quotes (JSON in a text), or as the password of a URL. A message without its secrets cannot be used. A
 * text that only mentions the word does not count.
 */
export function leftOutSecrets(schema: DescMessage, message: Message, unpack: Unpack): readonly FieldStep[][] {
  const found: FieldStep[][] = [];
  const visit = (value: unknown, schema: DescMessage | undefined, path: FieldPath | undefined, depth: number): void => {
    if (found.length >= maxFindings || depth > valueDepth) return;
    if (typeof value === "string") {
      if (isLeftOut(value)) found.push(stepsOf(path));
    } else if (value instanceof Uint8Array) {
      if (isLeftOut(Buffer.from(value).toString("latin1"))) found.push(stepsOf(path));
    } else if (Array.isArray(value)) {
      for (const [index, item] of value.entries()) visit(item, schema, stepInto(path, index), depth + 1);
    } else if (typeof value === "object" && value !== null) {
      visitObject(value, schema, path, depth + 1);
    }
  };
  const visitObject = (
    value: object,
    schema: DescMessage | undefined,
    path: FieldPath | undefined,
    depth: number,
  ): void => {
    if (schema === undefined || !("$typeName" in value)) {
      // A map, or a struct, which is plain JSON in a field.
      for (const [key, item] of Object.entries(value)) visit(item, schema, stepInto(path, { key }), depth);
    } else if (schema.typeName === "google.protobuf.Any") {
      const content = unpack(value as Any);
      if (content !== undefined) visit(content.message, content.schema, pathInto(content, path), depth);
    } else {
      for (const field of schema.fields)
        visit(fieldValue(value, field), field.message, stepInto(path, field.name), depth);
    }
  };
  visit(message, schema, undefined, 0);
  return found;
}

function isLeftOut(text: string): boolean {
  return text.includes(redacted) && /^\s*\[redacted\]\s*$|:\[redacted\]@|"\[redacted\]\\?"/m.test(text);
}

/**
 * Whether JSON that may be shown has such a field, also as bytes in base64. It knows no schema, so it takes a text that
 * looks like base64 for bytes.
 */
export function leavesSecretOut(json: unknown): boolean {
  if (typeof json === "string")
    return isLeftOut(json) || (isMarkedInBase64(json) && isLeftOut(Buffer.from(json, "base64").toString("latin1")));
  return typeof json === "object" && json !== null && Object.values(json).some(leavesSecretOut);
}

/** `[redacted]` in base64, behind any number of other bytes. */
const inBase64 = ["W3JlZGFjdGVkX", "tyZWRhY3RlZF", "bcmVkYWN0ZWRd"];

function isMarkedInBase64(text: string | Buffer): boolean {
  return inBase64.some((mark) => text.includes(mark));
}

/**
 * Whether something in a file may contain such a field. It checks texts only, as `mayLeaveOutSecrets` does for the
 * whole file.
 */
export function mayLackSecrets(json: unknown): boolean {
  if (typeof json === "string") return json.includes(redacted) || isMarkedInBase64(json);
  if (typeof json !== "object" || json === null) return false;
  for (const key in json) if (mayLackSecrets((json as Readonly<Record<string, unknown>>)[key])) return true;
  return false;
}

/** Whether a file may contain such fields. A cheap search of its bytes rules out nearly all files. */
export function mayLeaveOutSecrets(bytes: Uint8Array): boolean {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return [redacted, wide, wideSwapped].some((text) => buffer.includes(text)) || isMarkedInBase64(buffer);
}

/** In UTF-16, which YAML may be. */
const wide = Buffer.from(redacted, "utf16le");
const wideSwapped = Buffer.from(wide).swap16();
