import type { Encoding } from "./encoding.js";
import type { JsonBytes, TextPiece } from "./json-bytes.js";
import type { Kept, Reader } from "./message-reader.js";
import type { Hole, Recording } from "./recording.js";

/** More would take long to compare, and are seldom the same again. */
const longestText = 8_192;
const mostHoles = 200;

/** A length that is to be put in: it stands so far behind the beginning of one piece, and what it counts ends so far behind that of another. */
interface Length {
  readonly piece: number;
  readonly offset: number;
  readonly width: number;
  /** What takes as many bytes: from this length on, and up to before that. */
  readonly from: number;
  readonly to: number;
  readonly endPiece: number;
  readonly endOffset: number;
}

/**
 * How one object was read, for those that differ from it in some strings only: the resources of a folder are mostly of a few patterns, and to compare a text with a
 * pattern costs a fraction of reading it.
 */
export interface Template {
  /** The text in front of each hole, and behind the last one. */
  readonly texts: readonly TextPiece[];
  /** How many lines end in them. */
  readonly lines: number;
  /** In the order of the text. */
  readonly holes: readonly Pick<Hole, "member" | "key" | "isNumber">[];
  /** The bytes in front of what is made of each hole, and behind the last. */
  readonly pieces: readonly Uint8Array[];
  /** Which hole comes behind which piece. */
  readonly order: readonly number[];
  readonly lengths: readonly Length[];
  /** The values that were asked for; those of holes are put in anew each time. */
  readonly found: Kept;
}

/** Where strings are, and where pieces were put, while one object is read. */
const froms: number[] = [];
const ends: number[] = [];
const starts: number[] = [];

/** Makes a template of what was read last. Undefined: it does not lend itself to it. */
export function createTemplate(
  { holes, prefixes, isWhole }: Recording,
  src: JsonBytes,
  from: { readonly at: number; readonly lines: number },
  out: Encoding,
  found: Kept,
): Template | undefined {
  if (!isWhole || holes.length === 0 || holes.length > mostHoles || src.at - from.at > longestText) return undefined;
  const texts = between(
    from.at,
    src.at,
    holes.map(({ from, to }) => [from, to] as const),
    (begin, end) => src.since(begin, end),
  );
  const body = out.since(0);
  const written = [...holes.keys()].sort((a, b) => (holes[a] as Hole).at - (holes[b] as Hole).at);
  const cuts = written.map((hole) => {
    const { at, length } = holes[hole] as Hole;
    return [at, at + length] as const;
  });
  const begins = [0, ...cuts.map(([, end]) => end)];
  const placeOf = (at: number) => {
    const piece = begins.findLastIndex((begin) => begin <= at);
    return { piece, offset: at - (begins[piece] as number) };
  };
  const lengths = prefixes.flatMap(({ at, width, length }) => {
    const [begin, end] = [at + width, at + width + length];
    if (!holes.some((hole) => hole.at >= begin && hole.at < end)) return [];
    const { piece: endPiece, offset: endOffset } = placeOf(end);
    const limits = { from: width === 1 ? 0 : 0x80 ** (width - 1), to: 0x80 ** width };
    return [{ ...placeOf(at), width, ...limits, endPiece, endOffset }];
  });
  return {
    ...{
      texts,
      lines: src.lines - from.lines,
      holes: holes.map(({ member, key, isNumber }) => ({ member, key, isNumber })),
    },
    ...{
      pieces: between(0, body.length, cuts, (begin, end) => body.slice(begin, end)),
      order: written,
      lengths,
      found,
    },
  };
}

/** Copies of what lies in front of the cuts, between them and behind them. */
function between<Piece>(
  from: number,
  to: number,
  cuts: readonly (readonly [number, number])[],
  copy: (begin: number, end: number) => Piece,
): readonly Piece[] {
  const begins = [from, ...cuts.map(([, end]) => end)];
  return begins.map((begin, index) => copy(begin, cuts[index]?.[0] ?? to));
}

/** Reads an object that is as the template's but for its holes. Undefined: it is not, and nothing was read. What was written then is to be forgotten. */
export function fillTemplate(template: Template, { check, reference }: Reader, out: Encoding, src: JsonBytes) {
  if (!passesTexts(template, src)) return undefined;
  const { holes, pieces, order, lengths, found, lines } = template;
  src.lines += lines;
  out.enter();
  for (let index = 0; index < pieces.length; index += 1) {
    starts[index] = out.length;
    out.copy(pieces[index] as Uint8Array);
    if (index === order.length) break;
    const place = order[index] as number;
    const { member, key, isNumber } = holes[place] as Template["holes"][number];
    const from = froms[place] as number;
    const end = ends[place] as number;
    if (member === undefined) out.piece(src.bytes, from, end);
    else {
      const value = isNumber ? src.number(from, end) : src.bytes.latin1Slice(from, end);
      if (key !== undefined) found[key] = value;
      member.write(out, value);
    }
  }
  for (const { piece, offset, width, from, to, endPiece, endOffset } of lengths) {
    const at = (starts[piece] as number) + offset;
    const length = (starts[endPiece] as number) + endOffset - at - width;
    if (length < from || length >= to) return undefined;
    out.setLength(at, length);
  }
  if (check !== undefined && !check(found)) return undefined;
  reference?.(found, out);
  out.leave();
  return found;
}

/** Whether the text is as the template's, but for its holes. Notes where those are. */
function passesTexts({ texts, holes }: Template, src: JsonBytes): boolean {
  for (let index = 0; ; index += 1) {
    if (!src.passes(texts[index] as TextPiece, 0)) return false;
    if (index === holes.length) return true;
    const end = holes[index]?.isNumber ? src.digitsEnd() : src.plainEnd();
    // Nothing is written of an empty string, or something else.
    if (end <= src.at) return false;
    froms[index] = src.at;
    ends[index] = end;
    src.at = end;
  }
}
