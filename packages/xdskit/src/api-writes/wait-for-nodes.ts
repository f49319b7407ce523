import { setTimeout as delay } from "node:timers/promises";
import type { ApiClient } from "../api-client/api-client.js";
import { ApiError } from "../api-client/api-error.js";
import type { ArrivalJson } from "../api-client/api-types.js";

/** How many of the nodes that a change concerns must acknowledge it: all of them, or this percentage. */
export type WaitFor = { readonly percent: number };

/** How a wait ended. */
export interface WaitResult {
  /** `timeout`: too few nodes had answered when the time was over, or the server did not say who has. */
  readonly result: "acknowledged" | "rejected" | "timeout";
  /** The last answer of the server; undefined: there was none. */
  readonly arrival: ArrivalJson | undefined;
  /** Why the server did not say it at the end. */
  readonly problem?: ApiError | undefined;
}

const shortestPauseMs = 100;
const longestPauseMs = 1_000;
/** How long the other nodes have to answer after a rejection, so that it can be said who is silent. */
const afterRejectionMs = 1_000;
/** How long the server has for an answer, before it is asked again, in milliseconds. */
const maxAnswerMs = 5_000;
/** How long it has for its last answer, where it gave others before. */
const lastAnswerMs = 250;

/**
 * Waits until enough nodes have acknowledged a revision, one rejects it, or the time is over. It is not enough while a
 * server of the store does not say how far its nodes are, or if all nodes that were counted went away. A server that
 * is away or starts again is asked again; one that refuses the question is not.
 */
export async function waitForNodes(
  client: Pick<ApiClient, "get">,
  revision: string,
  { percent }: WaitFor,
  timeoutMs: number,
): Promise<WaitResult> {
  const end = performance.now() + timeoutMs;
  let arrival: ArrivalJson | undefined;
  let rejectedAt: number | undefined;
  let hadNodes = false;
  for (let pauseMs = shortestPauseMs; ; pauseMs = Math.min(longestPauseMs, pauseMs * 1.5)) {
    let problem: ApiError | undefined;
    try {
      const leftMs = Math.ceil(end - performance.now());
      const withinMs = Math.min(maxAnswerMs, Math.max(lastAnswerMs, leftMs));
      arrival = await client.get("/api/v1/revisions/{id}/arrival", { at: { id: revision }, withinMs });
      const isNobody = Object.values(arrival.counts).every((count) => count === 0);
      hadNodes ||= !isNobody;
      // A server that stops ends its streams first, and a node that went away has not acknowledged anything.
      const verdict = isNobody && hadNodes ? undefined : verdictOn(arrival, percent);
      if (verdict === "acknowledged") return { result: verdict, arrival };
      if (verdict === "rejected" && arrival.counts.pending === 0) return { result: verdict, arrival };
      rejectedAt = verdict === "rejected" ? (rejectedAt ?? performance.now()) : undefined;
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      problem = error;
    }
    if (rejectedAt !== undefined && performance.now() - rejectedAt > afterRejectionMs)
      return { result: "rejected", arrival };
    const leftMs = end - performance.now();
    if (leftMs <= 0 || (problem !== undefined && isRefusal(problem)))
      return { result: (arrival?.counts.rejected ?? 0) > 0 ? "rejected" : "timeout", arrival, problem };
    await delay(Math.min(pauseMs, leftMs));
  }
}

function verdictOn({ counts, uncounted = [] }: ArrivalJson, percent: number): WaitResult["result"] | undefined {
  const { acknowledged, rejected, pending, "held-back": heldBack } = counts;
  if (rejected > 0) return "rejected";
  const isEnough = acknowledged >= Math.ceil(((acknowledged + pending + heldBack) * percent) / 100);
  return isEnough && uncounted.length === 0 ? "acknowledged" : undefined;
}

/** It would be the same answer again; 408 and 429 ask for patience. */
function isRefusal({ status = 0 }: ApiError): boolean {
  return status >= 400 && status < 500 && status !== 408 && status !== 429;
}
