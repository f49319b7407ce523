import type { JsonValue } from "@bufbuild/protobuf";
import type { FieldStep } from "../errors/field-path.js";
import { NoList, partLength } from "../text/list-parts.js";
import { nestingLimit, type SourceDocument } from "../text/source-document.js";
import { countKeys, endOfString, isNumberPart, longNumber } from "./json-scan.js";
import { parseJson } from "./json-source.js";

/**
 * Reads a long JSON list of objects in parts, each a document of its own. `JSON.parse` takes half the time that way:
 * the values of a whole list would outlive the garbage collector's young generation.
 *
 * A list is cut only after an item. If a part is not JSON, either the cut or the text was wrong. Then, as for
 * everything unusual (see `parseJson`), it throws `NoList`, and the results of earlier parts are dropped. If all parts
 * are lists, the whole text is one.
 */
export function* partsOfList(text: string): Generator<SourceDocument> {
  const start = text.search(/[^ \t\n\r]/);
  if (text[start] !== "[") throw new NoList();
  for (let from = start + 1; ; ) {
    const part = scanPart(text, from);
    yield documentOf(text, part);
    from = part.end + 1;
    if (part.isLast) break;
  }
}

interface Part {
  readonly from: number;
  /** The offset of what follows: a comma, or the end of the list. */
  readonly end: number;
  readonly isLast: boolean;
  /** As in `JsonScan`. */
  readonly keys: number;
  /** The offsets of its objects. */
  readonly starts: readonly number[];
}

function scanPart(text: string, from: number): Part {
  const starts: number[] = [];
  let keys = 0;
  let depth = 1;
  for (let at = from; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code <= 0x20) continue;
    if (code === 0x22 /* " */) {
      at = endOfString(text, at);
    } else if (code === 0x3a /* : */) {
      keys++;
    } else if (code === 0x2c /* , */) {
      if (depth === 1 && at - from >= partLength) return { from, end: at, isLast: false, keys, starts };
    } else if (code === 0x7b /* { */ || code === 0x5b /* [ */) {
      if (code === 0x7b && depth === 1) starts.push(at);
      depth++;
      if (depth > nestingLimit) break;
    } else if (code === 0x7d /* } */ || code === 0x5d /* ] */) {
      depth--;
      if (depth === 0) {
        if (/[^ \t\n\r]/.test(text.slice(at + 1))) break;
        return { from, end: at, isLast: true, keys, starts };
      }
    } else if (code >= 0x30 && code <= 0x39) {
      const start = at;
      while (isNumberPart(text.charCodeAt(at + 1))) at++;
      if (at - start >= longNumber - 1) break;
    }
  }
  throw new NoList();
}

/**
 * Parses the text between two commas of a list. @throws NoList if it is not a list of objects without duplicate keys
 */
export function documentOf(text: string, { from, end, keys, starts }: Omit<Part, "isLast">): SourceDocument {
  const part = `[${text.slice(from, end)}]`;
  let value: JsonValue[];
  try {
    value = JSON.parse(part) as JsonValue[];
    // Only objects have a start, and a duplicate key counts once.
    if (value.length === 0 || value.length !== starts.length || countKeys(value) !== keys) throw new NoList();
  } catch {
    // Not JSON, or nested too deeply to count.
    throw new NoList();
  }
  let whole: SourceDocument | undefined;
  const locate = (steps: readonly FieldStep[]) => {
    const [item] = steps;
    const start = typeof item === "number" && steps.length === 1 ? starts[item] : undefined;
    if (start !== undefined) return start;
    whole ??= parseJson(part).documents[0];
    return from - 1 + (whole?.locate(steps) ?? 0);
  };
  return { value, offset: starts[0] ?? from, locate };
}
