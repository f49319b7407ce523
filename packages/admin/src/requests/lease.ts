import type { LayerWrite } from "@xdskit/server";
import { ApiProblem } from "../contract/problem.js";

const units: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

/** Milliseconds. Shorter ones end before a renewal can come, longer ones are forgotten by their owner. */
const shortestMs = 1_000;
const longestMs = 24 * 3_600_000;

/** An id, as `newLeaseId` makes them: anything else is a time with a mistake in it. */
const leaseId = /^[\w-]{16}$/;

/** The lease that a request names: a time such as `30s` for a new one, or the id of one. */
export function leaseOf(text: string | undefined): LayerWrite["lease"] {
  if (text === undefined) return undefined;
  const [, count = "", unit = ""] = /^(\d{1,9})(ms|s|m|h)$/.exec(text) ?? [];
  if (count === "" && leaseId.test(text)) return { id: text };
  const ttlMs = Number(count) * (units[unit] ?? 0);
  if (ttlMs >= shortestMs && ttlMs <= longestMs) return { ttlMs };
  throw ApiProblem.of(400, "XDSKIT_API_REQUEST", "lease: expected a time from 1s to 24h, or the id of a lease");
}
