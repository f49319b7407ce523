import type { SotwOrDelta } from "../../wire/basics/sotw-or-delta.js";
import type { Tag } from "../transcripts/transcript.js";

/** A symbol in a source file that implements a point. */
export interface Place {
  /** From the root of the repository. */
  readonly file: string;
  readonly symbol: string;
}

/** A test, by the title that it, its step or its group has in the file. */
export interface NamedTest {
  readonly file: string;
  readonly title: string;
}

/** The subject of a point: streams of these variants on ADS, per type or both; polls; or a client's duties. */
export type Subject =
  | { readonly kind: "streams"; readonly variants: readonly SotwOrDelta[]; readonly ads: readonly boolean[] }
  | { readonly kind: "rest" }
  | { readonly kind: "client" };

/** A rule, or a numbered point of another list. */
export interface Point extends Tag {
  readonly subject: Subject;
  readonly says: string;
  readonly places: readonly Place[];
  /** Tests other than transcripts, which name their points themselves. */
  readonly tests: readonly NamedTest[];
  /** A deliberate difference of xdskit, and its reason. */
  readonly differs: string | undefined;
  readonly note: string | undefined;
  /** A part that is missing so far. */
  readonly toCome: string | undefined;
}

/** Points that belong together. */
export interface Part {
  readonly title: string;
  readonly introduction: string;
  readonly points: readonly Point[];
}

/** One file of rules, and one page of the documentation. */
export interface Chapter {
  /** Of the page, without folder and ending. */
  readonly name: string;
  readonly title: string;
  readonly parts: readonly Part[];
}

const heading = /^(rule|choice|interop|envoy|grpc|naming) (\d+), ([a-z -]+): (.+)$/;
const detail = /^(in|by|but:|note:|to come:) (.+)$/;

/** Reads a file of `packages/protocol/rules`. Throws an error that names the line for anything that it cannot read. */
export function parseRules(file: string, text: string): Chapter {
  const parts: { title: string; introduction: string; points: Draft[] }[] = [];
  const [first = "", ...lines] = text.split("\n");
  const [, title] = /^chapter: (.+)$/.exec(first) ?? [];
  if (title === undefined) throw new Error(`${file}:1: want chapter: TITLE: ${first}`);
  for (const [index, line] of lines.entries()) {
    const refuse = (reason: string): Error => new Error(`${file}:${index + 2}: ${reason}: ${line}`);
    const part = parts.at(-1);
    const point = part?.points.at(-1);
    const head = heading.exec(line);
    const more = detail.exec(line);
    if (line.startsWith("# ")) parts.push({ title: line.slice(2), introduction: "", points: [] });
    else if (line === "") continue;
    else if (part === undefined) throw refuse("a line before the first part");
    else if (head !== null) part.points.push(draft(head, refuse));
    else if (point === undefined) part.introduction = `${part.introduction} ${line}`.trim();
    else if (more !== null) addDetail(point, more[1] ?? "", more[2] ?? "", refuse);
    else throw refuse("neither a point nor a detail of one");
  }
  return { name: file.replace(/^\d+-|\.txt$/g, ""), title, parts };
}

type Draft = { -readonly [K in keyof Point]: Point[K] } & { places: Place[]; tests: NamedTest[] };

function draft([, list, number, subject = "", says = ""]: RegExpExecArray, refuse: (reason: string) => Error): Draft {
  return {
    list: list as Tag["list"],
    number: Number(number),
    subject: subjectOf(subject, refuse),
    says,
    places: [],
    tests: [],
    differs: undefined,
    note: undefined,
    toCome: undefined,
  };
}

function subjectOf(words: string, refuse: (reason: string) => Error): Subject {
  if (words === "rest" || words === "client") return { kind: words };
  const [who = "", on, ...rest] = words.split(" ");
  const variants = { sotw: ["sotw"], delta: ["delta"], both: ["sotw", "delta"] } as const;
  const streams = on === undefined ? [true, false] : on === "ads" ? [true] : on === "per-type" ? [false] : undefined;
  if (!(who in variants) || streams === undefined || rest.length > 0) {
    throw refuse('want "sotw|delta|both [ads|per-type]", "rest" or "client"');
  }
  return { kind: "streams", variants: variants[who as keyof typeof variants], ads: streams };
}

function addDetail(point: Draft, word: string, text: string, refuse: (reason: string) => Error): void {
  if (word === "in") {
    for (const place of text.split("; ")) {
      const [file = "", symbol = "", ...rest] = place.split(" ");
      if (symbol === "" || rest.length > 0) throw refuse("want FILE SYMBOL; FILE SYMBOL");
      point.places.push({ file: fromRoot(file), symbol });
    }
  } else if (word === "by") {
    const [file = "", title = ""] = text.split(/: (.*)/);
    if (title === "") throw refuse("want FILE: TITLE");
    point.tests.push({ file: fromRoot(file), title });
  } else if (word === "but:") point.differs = text;
  else if (word === "note:") point.note = text;
  else point.toCome = text;
}

/** Most files are in a package: only others say where. */
function fromRoot(file: string): string {
  return /^(?:e2e|fuzz)\//.test(file) ? file : `packages/${file}`;
}
