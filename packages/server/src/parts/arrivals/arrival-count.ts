import { maxFindings } from "@xdskit/api";
import type { ConfigArrivalRejection, ConfigArrivalStatus, ConfigArrivalWait } from "../../contracts/nodes/arrival.js";
import { type ArrivalStanding, waitOf } from "./arrival-standing.js";

/** Counts how far nodes have a change. */
export function countStandings(revision: number, nodes: Iterable<ArrivalStanding>): ConfigArrivalStatus {
  const counts = { acknowledged: 0, rejected: 0, pending: 0, "held-back": 0 };
  const rejections: ConfigArrivalRejection[] = [];
  const waiting: ConfigArrivalWait[] = [];
  for (const standing of nodes) {
    if (standing.kind === "unconcerned") continue;
    counts[standing.kind] += 1;
    if (standing.kind === "rejected" && rejections.length < maxFindings) rejections.push(standing.rejection);
    if (!("stream" in standing) || waiting.length === maxFindings) continue;
    const wait = waitOf(standing);
    if (wait !== undefined) waiting.push(wait);
  }
  const { "held-back": heldBack, ...others } = counts;
  return { revision, ...others, heldBack, rejections, waiting };
}
