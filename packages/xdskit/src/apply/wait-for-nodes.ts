import { setTimeout as delay } from "node:timers/promises";
import type { ApiClient } from "../api-client/api-client.js";
import type { ArrivalView } from "../api-client/api-types.js";

/** How many of the nodes that a change concerns must acknowledge it: all of them, or this percentage. */
export type WaitFor = { readonly percent: number };

/** How a wait ended. */
export interface WaitResult {
  /** `timeout`: too few nodes had answered when the time was over. */
  readonly result: "acknowledged" | "rejected" | "timeout";
  readonly arrival: ArrivalView;
}

const shortestPauseMs = 100;
const longestPauseMs = 1_000;
/** After a rejection the other nodes have so long to answer, so that it can be said who is silent. */
const afterRejectionMs = 1_000;

/**
 * Waits until enough nodes have acknowledged a revision, one rejects it, or the time is over. It is not enough while a
 * server of the store does not say how far its nodes are. Rejects with an ApiError.
 */
export async function waitForNodes(
  client: ApiClient,
  revision: string,
  { percent }: WaitFor,
  timeoutMs: number,
): Promise<WaitResult> {
  const start = performance.now();
  let rejectedAt: number | undefined;
  for (let pauseMs = shortestPauseMs; ; pauseMs = Math.min(longestPauseMs, pauseMs * 1.5)) {
    const arrival = await client.get<ArrivalView>(`/api/v1/revisions/${encodeURIComponent(revision)}/arrival`);
    const { acknowledged, rejected, pending } = arrival.counts;
    const isWhole = (arrival.uncounted ?? []).length === 0;
    const now = performance.now();
    if (rejected > 0) {
      rejectedAt ??= now;
      if (pending === 0 || now - rejectedAt > afterRejectionMs) return { result: "rejected", arrival };
    } else if (isWhole && acknowledged >= Math.ceil(((acknowledged + pending) * percent) / 100)) {
      return { result: "acknowledged", arrival };
    }
    const left = start + timeoutMs - now;
    if (left <= 0) return { result: rejected > 0 ? "rejected" : "timeout", arrival };
    await delay(Math.min(pauseMs, left));
  }
}
