import type { SkippedCounts } from "@xdskit/server";
import { counted } from "../counts.js";

/** The skipped resources in words; undefined if there are none. */
export function skippedText(skipped: SkippedCounts | null | undefined): string | undefined {
  const { lastGood = 0, absent = 0 } = skipped ?? {};
  if (lastGood + absent === 0) return undefined;
  return `${counted(lastGood + absent, "resource")} skipped for errors: ${lastGood} with the last good content, ${absent} not served`;
}
