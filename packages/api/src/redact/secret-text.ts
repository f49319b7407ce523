import { isSecretName } from "./secret-names.js";

/** What stands in the place of a secret, as in Envoy's own dumps. */
export const redacted = "[redacted]";

const encoder = new TextEncoder();
/** The same as bytes. */
export const redactedBytes = (): Uint8Array => encoder.encode(redacted);

/**
 * A text without the private keys (PEM) in it, without a password in a URL, and where it is JSON without what is named like a secret; nothing of it where it
 * is a set of keys (JWKS) with private ones.
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

/** The same for bytes that may be text; the very same bytes where nothing is to be hidden. */
export function redactBytes(bytes: Uint8Array): Uint8Array {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");
  const after = redactText(text);
  return after === text ? bytes : new Uint8Array(Buffer.from(after, "latin1"));
}

const pemMark = "PRIVATE KEY-----";
const pem = /-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/gs;
/** A key set (JWKS) whose keys have the parts that only their owner knows. */
const isPrivateJwks = (text: string): boolean => /"kty"\s*:/.test(text) && /"[kd]"\s*:/.test(text);

function withoutPassword(text: string): string {
  return text.includes("@") ? text.replace(/(:\/\/[^/?#\s:@]*):[^/?#\s@]*@/g, `$1:${redacted}@`) : text;
}

/** A field of protobuf's text format with a text in it, or in the data source that it holds. */
const quotedField = /\b([A-Za-z_]\w*)(\s*:\s*|\s*\{\s*inline_(?:string|bytes)\s*:\s*)"(?:[^"\\]|\\.)*(?:"|\\?$)/gs;

/** What somebody says of a configuration, without its secrets: clients quote, and Envoy quotes whole messages in protobuf's text format. */
export function redactErrorText(text: string): string {
  return redactText(text).replace(quotedField, (quoted: string, name: string, between: string) =>
    isSecretName(name) ? `${name}${between}"${redacted}"` : quoted,
  );
}

/** JSON in which what is named like a secret is hidden, at any depth, and so are keys in texts. The same value where nothing is. */
export function redactJson(value: unknown): unknown {
  return redactAt(value, false, 0);
}

/** JSON of which nothing but the shape is left. */
export function hideJson(value: unknown): unknown {
  return redactAt(value, true, 0);
}

/** Deeper than any configuration; what is below it is hidden. */
const depthLimit = 100;

function redactAt(value: unknown, hidden: boolean, depth: number): unknown {
  if (typeof value === "string" && !hidden) return redactText(value);
  if (typeof value !== "object" || value === null) return hidden && value !== null ? redacted : value;
  if (depth >= depthLimit) return redacted;
  if (Array.isArray(value)) {
    const items = value.map((item) => redactAt(item, hidden, depth + 1));
    return items.every((item, index) => item === value[index]) ? value : items;
  }
  const before = Object.entries(value);
  const after = before.map(([key, item]) => redactAt(item, hidden || isSecretName(key), depth + 1));
  if (after.every((item, index) => item === before[index]?.[1])) return value;
  // `fromEntries` defines properties, so that even the key `__proto__` is kept.
  return Object.fromEntries(before.map(([key], index) => [key, after[index]]));
}
