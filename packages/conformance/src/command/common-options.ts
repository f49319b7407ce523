import { readFileSync } from "node:fs";
import { didYouMean, messageOf } from "@xdskit/api";
import type { Sentence } from "../checks/contract/check.js";
import type { JudgeOptions } from "../run/judge.js";
import type { Expected } from "../run/result.js";
import { defaultBounds } from "../verdicts/bounds.js";
import { Usage } from "./usage.js";

const text = { type: "string" } as const;

/** The options that `server` and `client` have. */
export const commonOptions = {
  only: text,
  requirements: text,
  "expected-failures": text,
  junit: text,
  json: text,
  yaml: text,
  "answer-ms": text,
  "quiet-ms": text,
  "total-ms": text,
} as const;

type CommonValues = { readonly [Name in keyof typeof commonOptions]?: string | undefined };

/** What they say. */
export interface CommonOptions<C extends Sentence> extends JudgeOptions {
  readonly checks: readonly C[];
  readonly junit: string | undefined;
  readonly json: string | undefined;
  readonly yaml: string | undefined;
}

/** Each check has connections, or processes, of its own. */
export const mostParallel = 64;
/** Longer waits would not end in a day. */
const longestMs = 86_400_000;
const maxFile = 1 << 20;

/** Reads what `server` and `client` have in common. Throws Usage. */
export function readCommonOptions<C extends Sentence>(values: CommonValues, all: readonly C[]): CommonOptions<C> {
  const requirements = values.requirements ?? "9999-12";
  if (!/^\d{4}-\d\d$/.test(requirements)) throw new Usage("--requirements is a year and a month, such as 2026-12");
  const ms = (name: "answer-ms" | "quiet-ms" | "total-ms", usual: number) =>
    numberOption(name, values[name], usual, longestMs);
  const answerMs = ms("answer-ms", defaultBounds.answerMs);
  const quietMs = ms("quiet-ms", defaultBounds.quietMs);
  // The longest check waits for a few answers and quiet times.
  const checkMs = Math.max(defaultBounds.checkMs, 8 * answerMs + 8 * quietMs);
  return {
    bounds: { answerMs, quietMs, checkMs, totalMs: ms("total-ms", defaultBounds.totalMs) },
    checks: values.only === undefined ? all : chosen(values.only, all),
    requirements,
    expected: expectedFailures(values["expected-failures"], all),
    junit: values.junit,
    json: values.json,
    yaml: values.yaml,
  };
}

/** Reads a number. Throws Usage. */
export function numberOption(name: string, text: string | undefined, usual: number, most: number): number {
  const value = text === undefined ? usual : Number(text);
  if (!Number.isInteger(value) || value < 1 || value > most) throw new Usage(`--${name} is a number from 1 to ${most}`);
  return value;
}

/** What Node's reader of options gives. Throws Usage. */
export function parsedOptions<T>(parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    throw new Usage(messageOf(error));
  }
}

/** The check of this identifier. Throws Usage if there is none. */
export function checkOf<C extends Sentence>(id: string, all: readonly C[]): C {
  const check = all.find((one) => one.id === id);
  if (check !== undefined) return check;
  const ids = all.map((one) => one.id);
  throw new Usage(`there is no check ${id}${didYouMean(id, ids)}; xds-conformance list has all`);
}

function chosen<C extends Sentence>(only: string, all: readonly C[]): readonly C[] {
  const wanted = new Set(
    only.split(",").flatMap((id) => {
      if (!id.endsWith("*")) return [checkOf(id, all)];
      const found = all.filter((check) => check.id.startsWith(id.slice(0, -1)));
      if (found.length === 0) throw new Usage(`no check begins with ${id.slice(0, -1)}; xds-conformance list has all`);
      return found;
    }),
  );
  return all.filter((check) => wanted.has(check));
}

/** Reads `ID`, or `ID sometimes`, a line; `#` begins a remark. */
function expectedFailures(file: string | undefined, all: readonly Sentence[]): ReadonlyMap<string, Expected> {
  if (file === undefined) return new Map();
  const lines = fileText(file)
    .split("\n")
    .map((line) => line.replace(/#.*/, "").trim().split(/\s+/))
    .filter(([id]) => id !== "");
  return new Map(
    lines.map(([id = "", how = "fails", ...more]) => {
      if ((how !== "fails" && how !== "sometimes") || more.length > 0) {
        throw new Usage(`${file} has a line that is neither ID nor ID sometimes: ${id} ${[how, ...more].join(" ")}`);
      }
      return [checkOf(id, all).id, how];
    }),
  );
}

/** Throws Usage if it cannot be read. */
export function fileText(file: string): string {
  let content: Buffer;
  try {
    content = readFileSync(file);
  } catch (error) {
    throw new Usage(`${file} cannot be read: ${messageOf(error)}`);
  }
  if (content.length > maxFile) throw new Usage(`${file} is larger than ${maxFile} bytes`);
  return content.toString("utf8");
}
