import { findingText } from "@xdskit/api";
import type { Trouble } from "../contract/admin-options.js";
import type { AnySourceStatus } from "../contract/source-status.js";
import type { AdminStore } from "../listener/admin-listener-options.js";

/** What is wrong with what keeps revisions. `since`: when the server started. */
export function storeTroubles(
  { away, numbers, trouble }: AdminStore = {},
  sources: () => readonly AnySourceStatus[],
  since: number,
): readonly Trouble[] {
  const isAway = away?.();
  const failing = isAway === undefined && !isReported(sources()) ? numbers?.().failing : undefined;
  const found = [
    ...(trouble === undefined ? [] : [{ finding: trouble, since }]),
    ...(isAway === undefined ? [] : [isAway]),
  ];
  const reported = found.map(({ finding, since }): Trouble => {
    return { kind: "store", severity: "error", message: finding.message, since };
  });
  if (failing === undefined) return reported;
  const title = "The store cannot be written";
  const message = findingText(failing.finding);
  return [...reported, { kind: "store", severity: "error", title, message, since: failing.since }];
}

/** A source says so by itself while it cannot keep its revisions. */
function isReported(sources: readonly AnySourceStatus[]): boolean {
  return sources.some(({ findings }) => findings.some(({ code }) => code === "XDSKIT_STORE"));
}
