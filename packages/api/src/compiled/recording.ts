import type { Encoding } from "./encoding.js";
import type { JsonBytes } from "./json-bytes.js";
import type { Member } from "./shape.js";

/** A string or a number in a text that may be another one the next time. */
export interface Hole {
  /** Of a string, between its quotes. */
  readonly from: number;
  readonly to: number;
  readonly isNumber: boolean;
  /** Where what was made of it begins, and how many bytes that is. */
  at: number;
  readonly length: number;
  /** What writes it with its tag; undefined: it is written as it is, behind its length. */
  readonly member: Member | undefined;
  /** The key under which it is one of the values that are asked for; undefined where it is none of them. */
  readonly key: string | undefined;
}

/** The length of a message, in front of it. */
export interface LengthPrefix {
  at: number;
  /** How many bytes the length takes. */
  readonly width: number;
  /** Of the message. */
  readonly length: number;
}

/** Bytes that were moved. */
export interface Move {
  readonly start: number;
  readonly end: number;
  readonly to: number;
}

/** What came of which part of an object's text, while it is read: what a template is made of. */
export class Recording {
  readonly holes: Hole[] = [];
  readonly prefixes: LengthPrefix[] = [];
  /** Whether nothing happened of which nothing is known here. */
  isWhole = true;

  /** A value was read from there, of which bytes were written from `at` on. Whether it is a string or a number that stands in the text as it is. */
  value(
    src: JsonBytes,
    from: number,
    at: number,
    out: Encoding,
    value: unknown,
    member: Member,
    key: Hole["key"],
  ): void {
    const length = out.length - at;
    // Of a list that is not packed, a value is one of several.
    if (length === 0 || member.field.fieldKind !== "scalar") return;
    if (typeof value === "string" && value.length === src.at - from - 2 && value.length > 0)
      this.holes.push({ from: from + 1, to: src.at - 1, isNumber: false, at, length, member, key });
    else if (
      typeof value === "number" &&
      src.bytes.latin1Slice(from, src.at) === String(value) &&
      Number.isSafeInteger(value) &&
      value >= 0
    )
      this.holes.push({ from, to: src.at, isNumber: true, at, length, member, key });
  }

  /** What lies from there on was moved, all by as much. */
  shift(from: number, by: number): void {
    for (const mark of this.#marks()) if (mark.at >= from) mark.at += by;
  }

  /** Pieces of what lies there changed places. */
  reorder(moves: readonly Move[]): void {
    for (const mark of this.#marks()) {
      const move = moves.find(({ start, end }) => mark.at >= start && mark.at < end);
      if (move !== undefined) mark.at += move.to - move.start;
    }
  }

  *#marks(): Iterable<{ at: number }> {
    yield* this.holes;
    yield* this.prefixes;
  }
}
