import type { Check } from "../checks/contract/check.js";
import { baseWorld, drivenContent } from "../driver/driven-content.js";
import { Peer, type PeerOptions } from "../peer/peer.js";
import { type Survey, surveyServer } from "../peer/survey.js";
import { Failed, Skipped } from "../verdicts/verdicts.js";
import type { Expected, Result } from "./result.js";

export interface RunOptions extends Omit<PeerOptions, keyof Survey> {
  readonly checks: readonly Check[];
  /** Checks that are newer than these requirements are not scored. */
  readonly requirements: string;
  /** What is said of checks, by their identifiers. */
  readonly expected: ReadonlyMap<string, Expected>;
  /** Checks at a time. */
  readonly parallel: number;
  /** Called for each result, in the order of the checks. */
  readonly onResult: (result: Result) => void;
}

/**
 * Plays checks against a server. Always ends: a check that takes too long has failed, and so has what is left when the
 * whole takes too long.
 */
export async function runChecks(options: RunOptions): Promise<readonly Result[]> {
  const { checks, bounds, parallel } = options;
  const end = Date.now() + bounds.totalMs;
  const survey = await surveyed(options, end);
  const results: Result[] = [];
  let told = 0;
  const play = async (index: number): Promise<void> => {
    results[index] = await played(checks[index]!, options, survey, end);
    while (results[told] !== undefined) options.onResult(results[told++]!);
  };
  const indexes = (tier: Check["tier"]) => [...checks.keys()].filter((index) => checks[index]?.tier === tier);
  const observing = indexes("observe");
  const work = async (): Promise<void> => {
    for (let index = observing.shift(); index !== undefined; index = observing.shift()) await play(index);
  };
  await Promise.all(Array.from({ length: Math.max(1, parallel) }, work));
  // What one check changes, another one would see.
  for (const index of indexes("drive")) await play(index);
  return results;
}

/** What the server has, or why nothing can be checked. */
async function surveyed(options: RunOptions, end: number): Promise<Survey | Failed> {
  try {
    const look = async (): Promise<Survey> => {
      await options.driver?.set(drivenContent(baseWorld));
      return await surveyServer(options);
    };
    return await within(end - Date.now(), "the whole run", look());
  } catch (error) {
    if (error instanceof Failed) return error;
    throw error;
  }
}

async function played(check: Check, options: RunOptions, survey: Survey | Failed, end: number): Promise<Result> {
  const startedAt = Date.now();
  const isScored = check.since <= options.requirements;
  const common = { check, isScored, expected: options.expected.get(check.id) };
  if (survey instanceof Failed) {
    return { ...common, status: "failed", message: survey.message, transcript: [], milliseconds: 0 };
  }
  const peer = new Peer({ ...options, ...survey });
  const outcome = async (): Promise<Pick<Result, "status" | "message">> => {
    try {
      const left = end - startedAt;
      if (left <= 0) throw new Failed(`the whole run took longer than ${options.bounds.totalMs} ms`);
      const message = await within(Math.min(options.bounds.checkMs, left), "the check", check.run(peer));
      return { status: "passed", message };
    } catch (error) {
      if (error instanceof Skipped) return { status: "skipped", message: error.message };
      // Anything else is what a message of the server led to.
      const message = error instanceof Error ? error.message : String(error);
      if (check.level === "either") return { status: "passed", message: `otherwise, which is allowed: ${message}` };
      return { status: "failed", message };
    } finally {
      peer.close();
    }
  };
  const { status, message } = await outcome();
  const milliseconds = Date.now() - startedAt;
  return { ...common, status, message, transcript: peer.transcript.lines, milliseconds };
}

/** Throws Failed if the work takes longer. What it does later is nobody's any more. */
async function within<T>(ms: number, what: string, work: Promise<T>): Promise<T> {
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
