import { maxKept } from "../errors/limits.js";
import { sortedRecord } from "../messages/sorted.js";
import { isObject } from "../text/source-document.js";
import { maxSeconds } from "../validate/refused/spans.js";
import { giveUp } from "./doubt.js";
import type { Encoding } from "./encoding.js";
import type { WriteMessage } from "./writers.js";

/** The keys of a map, in the order of its bytes. */
export function keysInOrder(json: { readonly [key: string]: unknown }): readonly string[] {
  const keys = Object.keys(json);
  return keys.length < 2 ? keys : Object.keys(sortedRecord(json));
}

/** A `google.protobuf.Duration` as the checks need it. */
interface DurationParts {
  readonly seconds: bigint;
  readonly nanos: number;
}

/** A longer string may be a view of a file's text, and would keep it alive. */
const longestKept = 12;
/** Configurations repeat their durations. */
const spans = new Map<unknown, DurationParts>();

/** Reads a duration of no less than zero. */
export function spanOf(json: unknown): DurationParts {
  const known = spans.get(json);
  if (known !== undefined) return known;
  const match = typeof json === "string" ? /^(\d{1,12})(?:\.(\d{1,9}))?s$/.exec(json) : null;
  if (match === null) return giveUp();
  const [text, seconds = "", part = ""] = match;
  const span = { seconds: BigInt(seconds), nanos: Number(part.padEnd(9, "0")) };
  if (span.seconds > maxSeconds) return giveUp();
  if (text.length > longestKept) return span;
  if (spans.size >= maxKept) spans.clear();
  spans.set(json, span);
  return span;
}

const duration: WriteMessage = (out, json) => {
  const span = spanOf(json);
  if (span.seconds !== 0n) {
    out.tag(0x08);
    out.varint(Number(span.seconds));
  }
  if (span.nanos !== 0) {
    out.tag(0x10);
    out.varint(span.nanos);
  }
  return span;
};

/** A JSON value counts as three nested messages in bytes: the value, its map entry, and the map. */
const levels = 3;

const struct: WriteMessage = (out, json) => {
  if (!isObject(json)) return giveUp();
  out.enter(levels);
  for (const key of keysInOrder(json)) {
    out.tag(0x0a);
    const entry = out.open(1);
    out.tag(0x0a);
    out.string(key);
    nested(out, 0x12, value, json[key]);
    out.close(entry, 1);
  }
  out.leave(levels);
  return undefined;
};

const list: WriteMessage = (out, json) => {
  if (!Array.isArray(json)) return giveUp();
  out.enter(levels);
  for (const item of json) nested(out, 0x0a, value, item);
  out.leave(levels);
  return undefined;
};

const value: WriteMessage = (out, json) => {
  if (typeof json === "string") {
    out.tag(0x1a);
    out.string(json);
  } else if (typeof json === "number") {
    if (!Number.isFinite(json)) return giveUp();
    out.tag(0x11);
    out.double(json);
  } else if (typeof json === "boolean") {
    out.tag(0x20);
    out.varint(json ? 1 : 0);
  } else if (json === null) {
    out.tag(0x08);
    out.varint(0);
  } else if (Array.isArray(json)) nested(out, 0x32, list, json);
  else nested(out, 0x2a, struct, json);
  return undefined;
};

function nested(out: Encoding, tag: number, write: WriteMessage, json: unknown): void {
  out.tag(tag);
  const start = out.open(1);
  write(out, json);
  out.close(start, 1);
}

/** Messages with their own JSON form that are compiled. Wrappers are compiled separately; others are not compiled. */
export const wellKnown: { readonly [typeName: string]: WriteMessage } = {
  "google.protobuf.Duration": duration,
  "google.protobuf.Struct": struct,
  "google.protobuf.ListValue": list,
  "google.protobuf.Value": value,
};
