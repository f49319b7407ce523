import { parseJsonText } from "@xdskit/api";
import type { PollRefusal } from "../../contracts/poll-transport.js";
import type { ServerLimits } from "../../settings/limits.js";

/** A request's body as JSON, or the reason why it is no JSON. */
export type ReadJson = { readonly kind: "value"; readonly value: unknown } | PollRefusal;

/**
 * Reads a body. Its size alone does not bound the cost: a few compressed kilobytes can be millions of empty objects,
 * which would block the server for seconds. So values are counted first.
 */
export function readJson(bytes: Uint8Array, { namesPerRequest }: Pick<ServerLimits, "namesPerRequest">): ReadJson {
  let text: string;
  try {
    text = utf8.decode(bytes);
  } catch {
    return refused("the body is not UTF-8");
  }
  if (text.trim() === "") return refused('the body is empty; the least that is a request is {"node":{"id":"…"}}');
  const most = valuesBesideNames + valuesPerName * namesPerRequest;
  if (bytes.byteLength > most && hasMoreValues(bytes, most)) {
    return { kind: "refused", status: 413, message: `the body holds more than ${most} values` };
  }
  if (bytes.byteLength > searchedBytes) {
    try {
      return { kind: "value", value: JSON.parse(text) };
    } catch {
      return refused("the body is no JSON; it is too long to say where");
    }
  }
  const read = parseJsonText(text);
  if (read.kind === "value") return read;
  return refused(`the body is no JSON: line ${read.line}, column ${read.column}: ${read.message}`);
}

/** A name may be a locator with parameters. */
const valuesPerName = 10;
/** An Envoy's node has some thousands. */
const valuesBesideNames = 100_000;
/**
 * The position of a mistake is slow to find, so it is searched up to this size: enough for Envoy's node of 61 kB and
 * for hand-written requests.
 */
const searchedBytes = 256 * 1024;

const utf8 = new TextDecoder("utf-8", { fatal: true });

function refused(message: string): PollRefusal {
  return { kind: "refused", status: 400, message };
}

/** Whether a text has more values than `most`, as its brackets and commas show. */
function hasMoreValues(bytes: Uint8Array, most: number): boolean {
  let values = 0;
  let inString = false;
  for (let index = 0; index < bytes.length; index++) {
    const byte = bytes[index];
    if (byte === backslash) index += 1;
    else if (byte === quote) inString = !inString;
    else if (!inString && (byte === comma || byte === brace || byte === bracket)) {
      values += 1;
      if (values > most) return true;
    }
  }
  return false;
}

const [quote, comma, bracket, backslash, brace] = [0x22, 0x2c, 0x5b, 0x5c, 0x7b];
