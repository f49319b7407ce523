import type { Sentence } from "../checks/contract/check.js";

/** How one check ended. */
export interface Result {
  readonly check: Sentence;
  readonly status: "passed" | "failed" | "skipped";
  /** Why it failed or was skipped, or what was seen. */
  readonly message: string | undefined;
  /** What went over the wire. */
  readonly transcript: readonly string[];
  readonly milliseconds: number;
  /** It belongs to the requirements that the run is about. What does not is reported only. */
  readonly isScored: boolean;
  /** Whether it was said to fail. */
  readonly expected: Expected;
}

/** What is said of a check before: it must fail, or it fails only sometimes. Undefined: nothing. */
export type Expected = "fails" | "sometimes" | undefined;

/** Whether a result makes the run fail: a MUST that does not hold, or one that was said to fail and holds. */
export function isAgainst({ check, status, isScored, expected }: Result): boolean {
  if (expected !== undefined) return expected === "fails" && status === "passed";
  return status === "failed" && check.level === "MUST" && isScored;
}

/** How many checks ended in which way. */
export function tallyOf(results: readonly Result[]): Readonly<Record<Result["status"], number>> {
  const count = (status: Result["status"]) => results.filter((result) => result.status === status).length;
  return { passed: count("passed"), failed: count("failed"), skipped: count("skipped") };
}
