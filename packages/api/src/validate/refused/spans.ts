import type { Duration } from "@bufbuild/protobuf/wkt";
import type { SpecialProblem } from "./problem.js";
import { none, refused } from "./problem.js";

/** `google.protobuf.Duration` */
export type Lasting = Pick<Duration, "seconds" | "nanos">;

/** Whether both durations are set and the first is shorter. */
export function isShorter(one: Lasting | undefined, other: Lasting | undefined): boolean {
  if (one === undefined || other === undefined) return false;
  return one.seconds < other.seconds || (one.seconds === other.seconds && one.nanos < other.nanos);
}

/** About 10,000 years, by the proto's comment. */
export const maxSeconds = 315_576_000_000n;

/** A duration that only bytes can hold: JSON has no form for it, and Envoy refuses it wherever it looks at it. */
export function spanProblems({ seconds, nanos }: Lasting): readonly SpecialProblem[] {
  const isBeyond = seconds > maxSeconds || seconds < -maxSeconds || Math.abs(nanos) > 999_999_999;
  const isMixed = (seconds > 0n && nanos < 0) || (seconds < 0n && nanos > 0);
  if (!isBeyond && !isMixed) return none;
  return [refused([], `is no duration: ${seconds} seconds and ${nanos} nanoseconds`)];
}
