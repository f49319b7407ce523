/** Facts about a regular expression that are known without compiling it. */
export interface RegexShape {
  /**
   * The same for a parser, but without parts that are short and expensive to compile: case is not folded, and a small
   * class replaces each Unicode class.
   */
  readonly plain: string;
  /** The same as `plain`, with each repetition done once. */
  readonly short: string;
  /** The approximate number of instructions in the expression's program. */
  readonly size: number;
  /** RE2 has at least this many, whatever it simplifies. */
  readonly least: number;
  /** The product of nested repetition counts, at its maximum. */
  readonly repeats: number;
}

/** A part of an expression. */
interface RegexPart {
  readonly size: number;
  readonly least: number;
  readonly repeats: number;
  /** RE2 may merge it with its neighbours. */
  readonly form: "character" | "repeated character" | "other";
  /** Some of it stays in the program, however often it is merged with its neighbours. */
  readonly stays: boolean;
}

interface Sequence {
  size: number;
  least: number;
  repeats: number;
  parts: number;
  stays: boolean;
  last: RegexPart | undefined;
}

/** An open parenthesis, or the expression itself: the alternatives before the current one. */
interface RegexGroup {
  readonly captures: boolean;
  before: RegexPart | undefined;
  now: Sequence;
}

const nothing: RegexPart = { size: 0, least: 0, repeats: 1, form: "other", stays: false };
const character: RegexPart = { size: 1, least: 1, repeats: 1, form: "character", stays: true };
/** A class that may be empty, such as [^\d\D]. */
const perhapsNoCharacter: RegexPart = { ...character, least: 0, stays: false };
const position: RegexPart = { ...nothing, size: 1 };

const unicodeClass = /^\\[pP](?:\{[^}\\]*\}|[^{])/su;
/** Each token of an expression. No alternative backtracks far: an unclosed part extends to the end. */
const token =
  /\\Q(?<quoted>.*?)(?:\\E|$)|\\[pP]\{[^}\\]*\}|\\[pP][^{]|\\x\{[^}\\]*\}|\\x[\dA-Fa-f]{2}|\\[0-7]{1,3}|\\.|\[\^?\]?(?:\[:\^?\w*:\]|\\.|[^\]\\])*(?:\]|$)|\((?:\?(?:P?<\w*>|(?<flags>[a-zA-Z-]*)(?<ends>[:)])))?|\{(?<from>\d+)(?<comma>,(?<to>\d*))?\}(?<lazy>\??)|[*+?]\??|./gsu;

/**
 * Reads an expression once, in linear time, whatever it repeats. It accepts syntax errors: `plain` then has the same
 * error.
 */
export function shapeOfRegex(expression: string, isUnicodeClass: (word: string) => boolean): RegexShape {
  const plain: string[] = [];
  const short: string[] = [];
  const groups: RegexGroup[] = [openGroup(false)];
  for (const match of expression.matchAll(token)) {
    const [text] = match;
    const { quoted, flags, ends, from, comma, to, lazy = "" } = match.groups ?? {};
    const group = groups.at(-1) as RegexGroup;
    if (text.startsWith("\\Q")) for (const _ of quoted ?? "") put(group.now, character);
    else if (text === "|") nextAlternative(group, 1);
    else if (text === ")" && groups.length > 1) {
      groups.pop();
      put((groups.at(-1) as RegexGroup).now, closed(group));
    } else if (text.startsWith("(")) {
      if (ends !== ")") groups.push(openGroup(flags === undefined && !text.startsWith("(?:")));
    } else if (text.startsWith("*")) repeat(group.now, 0, Number.POSITIVE_INFINITY);
    else if (text.startsWith("+")) repeat(group.now, 1, Number.POSITIVE_INFINITY);
    else if (text.startsWith("?")) repeat(group.now, 0, 1);
    else if (from !== undefined) {
      const most = comma === undefined ? Number(from) : to ? Number(to) : Number.POSITIVE_INFINITY;
      plain.push(text);
      const once = repeat(group.now, Number(from), most);
      short.push(once === undefined ? text : `${once}${lazy}`);
      continue;
    } else put(group.now, atomOf(text));
    // Flags do not affect the size, and `s` may stand wherever `i` may.
    const cheap = flags === undefined ? withoutUnicode(text, isUnicodeClass) : text.replaceAll("i", "s");
    plain.push(cheap);
    short.push(cheap);
  }
  while (groups.length > 1) {
    const inner = groups.pop() as RegexGroup;
    put((groups.at(-1) as RegexGroup).now, closed(inner));
  }
  const { size, least, repeats } = closed(groups[0] as RegexGroup);
  return { plain: plain.join(""), short: short.join(""), size: size + 2, least, repeats };
}

function openGroup(captures: boolean): RegexGroup {
  return { captures, before: undefined, now: emptySequence() };
}

function emptySequence(): Sequence {
  return { size: 0, least: 0, repeats: 1, parts: 0, stays: false, last: undefined };
}

function put(sequence: Sequence, part: RegexPart): void {
  settle(sequence);
  sequence.last = part;
  sequence.parts += 1;
}

/** The last part is not repeated again. */
function settle(sequence: Sequence): void {
  const { last } = sequence;
  if (last === undefined) return;
  sequence.size += last.size;
  sequence.least += last.least;
  sequence.repeats = Math.max(sequence.repeats, last.repeats);
  sequence.stays ||= last.stays;
  sequence.last = undefined;
}

/** RE2 shares the common prefix of alternatives: only the largest one surely remains. */
function nextAlternative(group: RegexGroup, more: 0 | 1): RegexPart {
  const { now, before } = group;
  const form = now.parts === 1 ? (now.last?.form ?? "other") : "other";
  settle(now);
  const { size, least, repeats, stays } = now;
  group.now = emptySequence();
  group.before =
    before === undefined
      ? { size: size + more, least, repeats, stays, form }
      : {
          size: before.size + size + more,
          least: Math.max(before.least, least),
          repeats: Math.max(before.repeats, repeats),
          stays: before.stays || stays,
          form: before.form === form ? form : "other",
        };
  return group.before;
}

function closed(group: RegexGroup): RegexPart {
  const part = nextAlternative(group, 0);
  if (group.captures) return { ...part, size: part.size + 2, form: "other" };
  // Several characters make a class.
  return part.form === "character" ? { ...part, size: 1 } : part;
}

/** Repeats the last part with the fewest instructions, if RE2 accepts such counts at all. */
function repeat(sequence: Sequence, from: number, to: number): string | undefined {
  const { last } = sequence;
  const bounded = to !== Number.POSITIVE_INFINITY;
  if (last !== undefined && (from !== 1 || to !== 1)) {
    const copies = bounded ? to : Math.max(from, 1);
    const size = copies * last.size + (bounded ? to - from : 1);
    const counted = bounded ? to : from;
    sequence.last = {
      size: Math.max(size, 0),
      least: leastOf(last, from, copies),
      repeats: counted > 1 ? last.repeats * counted : last.repeats,
      stays: last.stays && copies > 0,
      form: last.form === "character" || (last.form !== "other" && copies <= 1) ? "repeated character" : "other",
    };
  }
  if (from > maxRepeats || (bounded && (to > maxRepeats || to < from))) return undefined;
  const few = Math.min(from, 1);
  if (!bounded) return `{${few},}`;
  return from === to ? `{${few}}` : `{${few},1}`;
}

/** RE2 refuses higher counts, and nested ones with a higher product. */
export const maxRepeats = 1000;

/** RE2 merges a*a{0,9} into a*, and treats (?:a+)? as a*. It writes out all other repetitions. */
function leastOf(part: RegexPart, from: number, copies: number): number {
  if (copies === 0) return 0;
  if (part.form === "character") return from * part.least;
  if (copies === 1) return part.form === "repeated character" ? 0 : part.least;
  return copies * Math.max(part.least, part.stays ? (part.form === "repeated character" ? 2 : 1) : 0);
}

function atomOf(text: string): RegexPart {
  if (text === "^" || text === "$" || /^\\[AzbB]$/.test(text)) return position;
  if (text.startsWith("\\P") || /^\[\^?.*(?:\\|\[:|\u{10ffff})/su.test(text)) return perhapsNoCharacter;
  return character;
}

/** Unicode's class tables are long, and do not affect whether the rest is valid. */
function withoutUnicode(text: string, isUnicodeClass: (word: string) => boolean): string {
  if (text.startsWith("\\Q")) return text;
  return text.replaceAll(/\\(?:[pP]\{[^}\\]*\}|[pP][^{]|.)/gsu, (word) =>
    unicodeClass.test(word) && isUnicodeClass(word) ? "\\d" : word,
  );
}
