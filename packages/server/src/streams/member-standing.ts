import { isForAnswer, type Stream } from "@xdskit/protocol";
import type { MemberStanding } from "../contracts/parts/target-policy.js";

/** The state of a stream's client relative to the snapshot that the stream was given last. */
export function memberStandingOf(stream: Pick<Stream, "isInSync" | "status">): MemberStanding {
  if (stream.isInSync) return "synced";
  let rejects = false;
  for (const { meanwhile, sent, acknowledged, rejected, inFlightCount, waits } of stream.status()) {
    if (inFlightCount > 0 || waits.some(isForAnswer)) return "pending";
    if (rejected === undefined && acknowledged?.set !== meanwhile) return "pending";
    if (rejected !== undefined && sent?.set !== meanwhile) return "pending";
    rejects ||= rejected !== undefined;
  }
  return rejects ? "rejected" : "pending";
}
