import { isSecretName } from "./secret-names.js";

/** Replaces a secret, as in Envoy's own dumps. */
export const redacted = "[redacted]";

const encoder = new TextEncoder();
/** The same as bytes. */
export const redactedBytes = (): Uint8Array => encoder.encode(redacted);

/**
 * A text without PEM private keys, without passwords in URLs and, if it is JSON, without values whose names say that
 * they are secrets. A key set (JWKS) with private keys is hidden as a whole.
 */
export function redactText(text: string): string {
  if (isPrivateJwks(text)) return redacted;
  return looksLikeJson.test(text) ? redactJsonText(text) : redactPlainText(text);
}

const looksLikeJson = /^\s*[{[].*[}\]]\s*$/s;

function redactJsonText(text: string): string {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return redactPlainText(text);
  }
  const after = redactJson(value);
  return after === value ? text : JSON.stringify(after);
}

function redactPlainText(text: string): string {
  return withoutPassword(text.includes(pemMark) ? text.replace(pem, redacted) : text);
}

/** The same for bytes that may be text. Returns the same bytes if nothing is hidden. */
export function redactBytes(bytes: Uint8Array): Uint8Array {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");
  const after = redactText(text);
  return after === text ? bytes : new Uint8Array(Buffer.from(after, "latin1"));
}

const pemMark = "PRIVATE KEY-----";
const pem = /-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/gs;
/** A key set (JWKS) with private parts. */
const isPrivateJwks = (text: string): boolean => /"kty"\s*:/.test(text) && /"[kd]"\s*:/.test(text);

function withoutPassword(text: string): string {
  return text.includes("@") ? text.replace(/(:\/\/[^/?#\s:@]*):[^/?#\s@]*@/g, `$1:${redacted}@`) : text;
}

/** A field of protobuf's text format with a text in it, or in its data source. */
const quotedField = /\b([A-Za-z_]\w*)(\s*:\s*|\s*\{\s*inline_(?:string|bytes)\s*:\s*)"(?:[^"\\]|\\.)*(?:"|\\?$)/gs;

/**
 * A message about a configuration, without its secrets. Clients quote values, and Envoy quotes whole messages in text
 * format.
 */
export function redactErrorText(text: string): string {
  return redactText(text).replace(quotedField, (quoted: string, name: string, between: string) =>
    isSecretName(name) ? `${name}${between}"${redacted}"` : quoted,
  );
}

/**
 * JSON with secrets hidden at any depth, by their names and as keys in texts, and messages (`@type`) as a whole. The
 * same value if there are none.
 */
export function redactJson(value: unknown): unknown {
  return redactAt(value, false, 0);
}

/** Only the shape of a JSON value. */
export function hideJson(value: unknown): unknown {
  return redactAt(value, true, 0);
}

/** Deeper than any configuration. Deeper content is hidden. */
export const valueDepth = 100;

function redactAt(value: unknown, hidden: boolean, depth: number): unknown {
  if (typeof value === "string" && !hidden) return redactText(value);
  if (typeof value !== "object" || value === null) return hidden && value !== null ? redacted : value;
  if (depth >= valueDepth) return redacted;
  if (Array.isArray(value)) {
    const items = value.map((item) => redactAt(item, hidden, depth + 1));
    return items.every((item, index) => item === value[index]) ? value : items;
  }
  const before = Object.entries(value);
  // A message in JSON whose schema is not at hand: which of its fields are secrets is not known.
  const isMessage = !hidden && "@type" in value;
  const after = before.map(([key, item]) =>
    isMessage && key === "@type" ? item : redactAt(item, hidden || isMessage || isSecretName(key), depth + 1),
  );
  if (after.every((item, index) => item === before[index]?.[1])) return value;
  // `fromEntries` defines properties, so it keeps even the key `__proto__`.
  return Object.fromEntries(before.map(([key], index) => [key, after[index]]));
}
