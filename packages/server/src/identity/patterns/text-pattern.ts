/** The parts of a text that a pattern kept, by name. */
export type Captured = ReadonlyMap<string, string>;

/** A pattern, ready to be asked often. */
export interface TextPattern {
  /** What the text is made of, or undefined: it does not match. */
  match(text: string): Captured | undefined;
}

/** How patterns of one kind are read. */
export interface PatternRules {
  /** No `{name}` and no `*` goes beyond it. */
  readonly separator: string;
  /** Where `*` may stand. `whole-last`: only for whole parts, after which nothing else comes. */
  readonly star: "anywhere" | "whole-last" | "nowhere";
}

/** A longer text never matches: nobody has such a name. */
const maxLength = 2_048;

/** One part between separators: text, then perhaps something that stands for any text, then text. */
interface TextPart {
  readonly before: string;
  /** Undefined: the part is `before`, exactly. An empty name: `*`. */
  readonly name: string | undefined;
  readonly after: string;
}

const placeholder = /\{([A-Za-z_][A-Za-z0-9_]*)\}|\*/g;

/**
 * Reads a pattern. A part between separators may hold one `{name}` or one `*`: then there is only one way to read a
 * text, so that nobody gets another's name by shifting the border, and no text costs much. Returns what is wrong as a
 * text.
 */
export function readPattern(pattern: string, rules: PatternRules): TextPattern | string {
  if (pattern === "") return "it must not be empty";
  const parts: TextPart[] = [];
  const names = new Set<string>();
  let starBefore = false;
  for (const text of pattern.split(rules.separator)) {
    const found = [...text.matchAll(placeholder)];
    const [first, second] = found;
    if (second !== undefined) return `between two ${JSON.stringify(rules.separator)}, only one {name} or * may stand`;
    if (/[{}]/.test(text.replace(placeholder, ""))) return "a { or } stands alone: a part to keep is written {name}";
    const name = first === undefined ? undefined : (first[1] ?? "");
    if (name !== undefined && name !== "" && names.has(name)) return `{${name}} stands twice`;
    if (name) names.add(name);
    if (name === "" && rules.star === "nowhere") return "* cannot stand in it";
    if (name === "" && rules.star === "whole-last" && text !== "*") return "* must stand for a whole segment";
    if (rules.star === "whole-last" && starBefore && name !== "") return "* may stand for the last segments only";
    starBefore = name === "";
    const at = first?.index ?? text.length;
    parts.push({ before: text.slice(0, at), name, after: first === undefined ? "" : text.slice(at + first[0].length) });
  }
  return { match: (text: string) => matchParts(parts, text, rules.separator) };
}

/** The names that a pattern keeps. */
export function namesIn(pattern: string): readonly string[] {
  return [...pattern.matchAll(placeholder)].flatMap(([, name]) => name ?? []);
}

function matchParts(parts: readonly TextPart[], text: string, separator: string): Captured | undefined {
  if (text.length > maxLength) return undefined;
  const given = text.split(separator);
  if (given.length !== parts.length) return undefined;
  const captured = new Map<string, string>();
  for (const [index, { before, name, after }] of parts.entries()) {
    const part = given[index] as string;
    if (name === undefined) {
      if (part !== before) return undefined;
      continue;
    }
    // What stands for any text stands for one character at least: nobody has an empty name.
    if (part.length <= before.length + after.length) return undefined;
    if (!part.startsWith(before) || !part.endsWith(after)) return undefined;
    if (name !== "") captured.set(name, part.slice(before.length, part.length - after.length));
  }
  return captured;
}
