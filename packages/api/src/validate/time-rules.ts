import { type Ordering, orderChecks } from "./order-rules.js";
import { type RuleSet, ruleCheck, ruleOf, type ValueCheck } from "./values/value-check.js";

/** A `google.protobuf.Duration` or `Timestamp`. */
interface Instant {
  readonly seconds: bigint;
  readonly nanos: number;
}

function compare(a: Instant, b: Instant): number {
  if (a.seconds !== b.seconds) return a.seconds < b.seconds ? -1 : 1;
  return a.nanos - b.nanos;
}

const durations: Ordering<Instant> = { compare, show: showDuration };
const times: Ordering<Instant> = { compare, show: ({ seconds }) => new Date(Number(seconds) * 1000).toISOString() };

/** The rules of durations. */
export function durationChecks(rules: RuleSet): ValueCheck[] {
  return orderChecks("duration", rules, durations);
}

/** The rules of times. */
export function timestampChecks(rules: RuleSet): ValueCheck[] {
  const checks = orderChecks("timestamp", rules, times);
  const now = () => Date.now();
  const millis = ({ seconds, nanos }: Instant) => Number(seconds) * 1000 + nanos / 1e6;
  if (ruleOf(rules, "ltNow") === true) {
    checks.push(ruleCheck("timestamp.lt_now: true", "must be in the past", (value: Instant) => millis(value) < now()));
  }
  if (ruleOf(rules, "gtNow") === true) {
    checks.push(
      ruleCheck("timestamp.gt_now: true", "must be in the future", (value: Instant) => millis(value) > now()),
    );
  }
  const within = ruleOf<Instant>(rules, "within");
  if (within !== undefined) {
    const near = (value: Instant) => Math.abs(millis(value) - now()) <= millis(within);
    checks.push(
      ruleCheck(`timestamp.within: ${showDuration(within)}`, `must be within ${showDuration(within)} of now`, near),
    );
  }
  return checks;
}

function showDuration({ seconds, nanos }: Instant): string {
  const sign = seconds < 0n || nanos < 0 ? "-" : "";
  const whole = seconds < 0n ? -seconds : seconds;
  const fraction = nanos === 0 ? "" : `.${String(Math.abs(nanos)).padStart(9, "0").replace(/0+$/, "")}`;
  return `${sign}${whole}${fraction}s`;
}
