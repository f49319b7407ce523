import { didYouMean, type Finding, messageOf, throwIfAny, XdskitError, type XdskitErrorCode } from "@xdskit/api";
import { type Document, isMap, isNode, isScalar, LineCounter, parseDocument, visit } from "yaml";
import type { z } from "zod";
import { type Settings, settingsSchema } from "./schema.js";

/**
 * Reads the text of a settings file.
 * @throws XdskitError with a finding, at its line and column, for every unknown key and every wrong value.
 */
export function readSettings(file: string, text: string): Settings {
  return readSettingsAs(settingsSchema, file, text);
}

/** The same for other settings than those of `serve`. */
export function readSettingsAs<Shape>(schema: z.ZodType<Shape>, file: string, text: string): Shape {
  const lines = new LineCounter();
  const findingAt = (offset: number, code: XdskitErrorCode, message: string, field?: string): Finding => {
    const { line, col } = lines.linePos(offset);
    return { code, severity: "error", message, file, line, column: col, field };
  };
  let document: Document.Parsed;
  try {
    document = parseDocument(text, { lineCounter: lines, logLevel: "silent" });
  } catch (error) {
    // The composer recurses: only deep nesting can exhaust the stack.
    if (!(error instanceof RangeError)) throw error;
    throw new XdskitError([findingAt(0, "XDSKIT_SYNTAX", "nested too deep")], { cause: error });
  }
  const broken = document.errors.map((error) =>
    findingAt(error.pos[0], "XDSKIT_SYNTAX", withoutContent(error.message)),
  );
  throwIfAny(broken);

  let values: unknown;
  try {
    values = document.toJS();
  } catch (error) {
    // An alias without an anchor, or aliases that grow without end.
    const message = withoutContent(messageOf(error));
    throw new XdskitError([findingAt(badAliasIn(document), "XDSKIT_SYNTAX", message)], { cause: error });
  }
  const result = schema.safeParse(values ?? {}, { error: knownKeys });
  if (result.success) return result.data;
  throwIfAny(
    result.error.issues
      .flatMap(eachKey)
      .map((problem) => ({ ...problem, offset: offsetOf(document, problem.path, problem.atKey) }))
      .sort((a, b) => a.offset - b.offset)
      .map(({ offset, path, message }) => findingAt(offset, "XDSKIT_SETTINGS_INVALID", message, fieldPath(path))),
  );
  throw result.error;
}

/** The place of the first alias without an anchor before it, else of the first alias. */
function badAliasIn(document: Document): number {
  let first: number | undefined;
  let lost: number | undefined;
  visit(document, {
    Alias(_, alias) {
      first ??= alias.range?.[0];
      if (lost === undefined && alias.resolve(document) === undefined) lost = alias.range?.[0];
    },
  });
  return lost ?? first ?? 0;
}

/**
 * The parser's message without the place and without quotes: the user may have named another file than the settings.
 */
function withoutContent(message: string): string {
  return message.replace(/ at line \d+.*$|(?<=[\w)]): .*$/s, "");
}

interface SettingsProblem {
  readonly path: readonly PropertyKey[];
  /** The error is at the key itself, not at its value. */
  readonly atKey: boolean;
  readonly message: string;
}

/** For unknown keys, the known keys of the object: the issue lacks them, and the message is the only place for them. */
const knownKeys: z.core.$ZodErrorMap = (issue) => {
  if (issue.code !== "unrecognized_keys") return undefined;
  const { shape = {} } = issue.inst as Partial<z.ZodObject>;
  return Object.keys(shape).join(" ");
};

function eachKey(issue: z.core.$ZodIssue): readonly SettingsProblem[] {
  switch (issue.code) {
    case "unrecognized_keys":
      return issue.keys.map((key) => ({
        path: [...issue.path, key],
        atKey: true,
        message: `there is no such setting${didYouMean(key, issue.message.split(" "))}`,
      }));
    case "invalid_key":
      return [{ path: issue.path, atKey: true, message: issue.issues[0]?.message ?? issue.message }];
    case "invalid_union": {
      const inside = issuesInside(issue);
      if (inside === undefined) break;
      return inside.flatMap((each) => eachKey({ ...each, path: [...issue.path, ...each.path] }));
    }
  }
  return [{ path: issue.path, atKey: false, message: plainMessage(issue.message) }];
}

/** The error inside the kind of value that was probably meant, such as an object where "off" is possible, too. */
function issuesInside({ errors }: z.core.$ZodIssueInvalidUnion): readonly z.core.$ZodIssue[] | undefined {
  const isInside = ({ path, code }: z.core.$ZodIssue) => path.length > 0 || code === "unrecognized_keys";
  const [found, ...others] = errors.filter((issues) => issues.length > 0 && issues.every(isInside));
  return others.length === 0 ? found : undefined;
}

function plainMessage(message: string): string {
  if (message === "Too small: expected string to have >=1 characters") return "must not be empty";
  const [, expected, found] = /^Invalid input: expected (\w+), received (\w+)$/.exec(message) ?? [];
  if (expected === undefined || found === undefined) return message.charAt(0).toLowerCase() + message.slice(1);
  if (found === "undefined") return "is missing";
  return `expected ${kindNames[expected] ?? expected}, found ${kindNames[found] ?? found}`;
}

const kindNames: Readonly<Record<string, string>> = {
  object: "a mapping",
  record: "a mapping",
  array: "a list",
  string: "a string",
  number: "a number",
  boolean: "true or false",
  null: "nothing",
};

/** `groups[0].match.cluster` */
function fieldPath(path: readonly PropertyKey[]): string {
  return path.reduce<string>((before, part) => {
    if (typeof part === "number") return `${before}[${part}]`;
    return before === "" ? String(part) : `${before}.${String(part)}`;
  }, "");
}

/** The place of a path in the text; for a missing value, the nearest thing around it. */
function offsetOf(document: Document, path: readonly PropertyKey[], atKey: boolean): number {
  for (let depth = path.length; depth >= 0; depth--) {
    const parent = document.getIn(path.slice(0, depth - 1), true);
    if (depth > 0 && (atKey || depth < path.length) && isMap(parent)) {
      const pair = parent.items.find(({ key }) => isScalar(key) && String(key.value) === String(path[depth - 1]));
      if (pair !== undefined && isNode(pair.key) && pair.key.range) return pair.key.range[0];
    }
    const node = depth === 0 ? document.contents : document.getIn(path.slice(0, depth), true);
    if (isNode(node) && node.range) return node.range[0];
  }
  return 0;
}
