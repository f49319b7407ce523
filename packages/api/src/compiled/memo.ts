import { giveUp } from "./doubt.js";
import type { Encoding } from "./encoding.js";
import type { JsonBytes, TextPiece } from "./json-bytes.js";
import type { WriteField } from "./shape.js";

/** Longer texts are seldom the same again. */
const longest = 256;
/** Where so many in a row were others than the one before, there is no use in keeping them. */
const mostMisses = 16;
const quote = 0x22;

/**
 * What one field was the last time: its text, and what was made of it. Configurations repeat themselves: most timeouts, ports and sources of resources
 * are those of the resource before, and to see that costs less than to read them.
 */
export interface Memo {
  text: TextPiece | undefined;
  value: unknown;
  /** The field as bytes, if they are all that comes of it. */
  written: Uint8Array | undefined;
  /** How deep the message was. */
  depth: number;
  misses: number;
  /** How many ends of lines are in the text. */
  lines: number;
}

export function createMemo(): Memo {
  return { text: undefined, value: undefined, written: undefined, depth: 0, misses: 0, lines: 0 };
}

/** Reads a value and writes the field. Returns the value. */
export function writeRemembered(memo: Memo, out: Encoding, src: JsonBytes, write: WriteField): unknown {
  const { text, written } = memo;
  const from = src.at;
  const before = src.lines;
  if (text !== undefined && written !== undefined && out.depth <= memo.depth && src.passes(text, memo.lines)) {
    if (src.bytes[src.at - 1] === quote || src.isEnd()) {
      out.copy(written);
      memo.misses = 0;
      return memo.value;
    }
    src.goBack(from, before);
  }
  const value = src.value();
  // It means mostly that nothing is set.
  if (value === null) giveUp();
  const start = out.length;
  const { length } = out.references;
  const { hosts } = out;
  write(out, value);
  if (memo.misses >= mostMisses || src.at - from > longest) return value;
  memo.misses += 1;
  memo.text = src.since(from);
  memo.lines = src.lines - before;
  memo.value = value;
  // Where references do not count, nobody knows whether there are any.
  const isAll = out.references.length === length && out.muted === 0 && out.hosts === hosts;
  memo.written = isAll ? out.since(start) : undefined;
  memo.depth = out.depth;
  return value;
}
