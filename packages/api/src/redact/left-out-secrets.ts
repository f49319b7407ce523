import type { DescMessage, Message } from "@bufbuild/protobuf";
import type { Any } from "@bufbuild/protobuf/wkt";
import type { Unpack } from "../any.js";
import { type FieldPath, type FieldStep, stepInto, stepsOf } from "../field-path.js";
import { fieldValue } from "../message-plan.js";
import { redacted } from "./secret-text.js";

/** Deeper than any configuration. */
const depthLimit = 100;
/** How many fields of one message are worth naming. */
const mostFields = 100;

/**
 * The fields of a message in which `[redacted]` stands in the place of a secret, at most 100: alone, on a line of its own (a key in PEM), in quotes (JSON in a text), or
 * as the password of a URL. What was written without its secrets is no configuration any more. A text that only mentions the word is none of them.
 */
export function leftOutSecrets(schema: DescMessage, message: Message, unpack: Unpack): readonly FieldStep[][] {
  const found: FieldStep[][] = [];
  const visit = (value: unknown, schema: DescMessage | undefined, path: FieldPath | undefined, depth: number): void => {
    if (found.length >= mostFields || depth > depthLimit) return;
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
      // A map, or a struct, which is plain JSON as a field.
      for (const [key, item] of Object.entries(value)) visit(item, schema, stepInto(path, { key }), depth);
    } else if (schema.typeName === "google.protobuf.Any") {
      const content = unpack(value as Any);
      if (content !== undefined) visit(content.message, content.schema, path, depth);
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

/** What bytes begin with in base64 that are `[redacted]`, or a key in PEM in the place of which it stands. */
const inBase64 = "W3JlZGFjdGVkX";

/** Whether something in a file may be such a field: a look at its texts tells, as `mayLeaveOutSecrets` does of the whole file. */
export function mayLackSecrets(json: unknown): boolean {
  if (typeof json === "string") return json.includes(redacted) || json.includes(inBase64);
  if (typeof json !== "object" || json === null) return false;
  for (const key in json) if (mayLackSecrets((json as Readonly<Record<string, unknown>>)[key])) return true;
  return false;
}

/** Whether a file may hold such fields: a search through its bytes, which costs next to nothing, tells of nearly all that they do not. */
export function mayLeaveOutSecrets(bytes: Uint8Array): boolean {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return buffer.includes(redacted) || buffer.includes(inBase64);
}
