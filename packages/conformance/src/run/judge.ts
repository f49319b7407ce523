import type { Sentence } from "../checks/contract/check.js";
import type { Bounds } from "../verdicts/bounds.js";
import { Failed, Skipped } from "../verdicts/verdicts.js";
import type { Transcript } from "../wire/transcript.js";
import type { Expected, Result } from "./result.js";

/** What is the same for all verdicts of a run. */
export interface JudgeOptions {
  readonly bounds: Bounds;
  /** Checks that are newer than these requirements are not scored. */
  readonly requirements: string;
  /** What is said of checks, by their identifiers. */
  readonly expected: ReadonlyMap<string, Expected>;
}

/** What is known of a result before the check is played. */
export function standing(
  check: Sentence,
  { requirements, expected }: JudgeOptions,
): Pick<Result, "check" | "isScored" | "expected"> {
  return { check, isScored: check.since <= requirements, expected: expected.get(check.id) };
}

/** Plays a check within its time. `end`: when the whole run is over. */
export async function resultOf(
  check: Sentence,
  options: JudgeOptions,
  end: number,
  transcript: Transcript,
  play: () => Promise<string | undefined>,
): Promise<Result> {
  const startedAt = Date.now();
  const { checkMs, totalMs } = options.bounds;
  const outcome = async (): Promise<Pick<Result, "status" | "message">> => {
    try {
      const left = end - startedAt;
      if (left <= 0) throw new Failed(`the whole run took longer than ${totalMs} ms`);
      return { status: "passed", message: await within(Math.min(checkMs, left), "the check", play()) };
    } catch (error) {
      if (error instanceof Skipped) return { status: "skipped", message: error.message };
      // Anything else is what a message of the peer led to.
      const message = error instanceof Error ? error.message : String(error);
      if (check.level === "either") return { status: "passed", message: `otherwise, which is allowed: ${message}` };
      return { status: "failed", message };
    }
  };
  const { status, message } = await outcome();
  const milliseconds = Date.now() - startedAt;
  return { ...standing(check, options), status, message, transcript: transcript.lines, milliseconds };
}

/** Throws Failed if the work takes longer. What it does later is nobody's any more. */
export async function within<T>(ms: number, what: string, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Failed(`${what} took longer than ${ms} ms`)), ms);
  });
  work.catch(() => {});
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
