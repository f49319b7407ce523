import type { Check } from "../checks/contract/check.js";
import { baseWorld, drivenContent } from "../driver/driven-content.js";
import { type PeerOptions, ServerPeer } from "../peer/peer.js";
import { type Survey, surveyServer } from "../peer/survey.js";
import { Failed } from "../verdicts/verdicts.js";
import { inOrder } from "./in-order.js";
import { type JudgeOptions, resultOf, standing, within } from "./judge.js";
import type { Result } from "./result.js";

export interface RunOptions extends Omit<PeerOptions, keyof Survey>, JudgeOptions {
  readonly checks: readonly Check[];
  /** Checks at a time. */
  readonly parallel: number;
  /** Called for each result: those that only observe first, in the order of the checks. */
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
  const play = (check: Check): Promise<Result> => played(check, options, survey, end);
  const of = (tier: Check["tier"]) => checks.filter((check) => check.tier === tier);
  const observed = await inOrder(of("observe"), parallel, play, options.onResult);
  // What one check changes, another one would see.
  return [...observed, ...(await inOrder(of("drive"), 1, play, options.onResult))];
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
  if (survey instanceof Failed) {
    const nothing = { transcript: [], milliseconds: 0 };
    return { ...standing(check, options), status: "failed", message: survey.message, ...nothing };
  }
  const peer = new ServerPeer({ ...options, ...survey });
  return await resultOf(check, options, end, peer.transcript, async () => {
    try {
      return await check.run(peer);
    } finally {
      peer.close();
    }
  });
}
