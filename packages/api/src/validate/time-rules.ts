import { orderChecks, type ValueOrder } from "./order-rules.js";
import { type LimitRules, limitChecks, type RuleSet, type ValueCheck } from "./values/value-check.js";

/** A `google.protobuf.Duration` or `Timestamp`. */
interface Instant {
  readonly seconds: bigint;
  readonly nanos: number;
}

function compare(a: Instant, b: Instant): number {
  if (a.seconds !== b.seconds) return a.seconds < b.seconds ? -1 : 1;
  return a.nanos - b.nanos;
}

const durations: ValueOrder<Instant> = { compare, show: showDuration };
const times: ValueOrder<Instant> = { compare, show: ({ seconds }) => new Date(Number(seconds) * 1000).toISOString() };

const limits: LimitRules<Instant> = {
  ltNow: ["must be in the past", () => (value) => millis(value) < Date.now()],
  gtNow: ["must be in the future", () => (value) => millis(value) > Date.now()],
  within: [
    (limit: Instant) => `must be within ${showDuration(limit)} of now`,
    (limit: Instant) => (value) => Math.abs(millis(value) - Date.now()) <= millis(limit),
  ],
};

/** The rules of durations. */
export function durationChecks(rules: RuleSet): readonly ValueCheck[] {
  return orderChecks("duration", rules, durations);
}

/** The rules of times. */
export function timestampChecks(rules: RuleSet): readonly ValueCheck[] {
  const show = (limit: unknown) => (limit === true ? "true" : showDuration(limit as Instant));
  return [...orderChecks("timestamp", rules, times), ...limitChecks("timestamp", rules, limits, show)];
}

function millis({ seconds, nanos }: Instant): number {
  return Number(seconds) * 1000 + nanos / 1e6;
}

function showDuration({ seconds, nanos }: Instant): string {
  const sign = seconds < 0n || nanos < 0 ? "-" : "";
  const whole = seconds < 0n ? -seconds : seconds;
  const fraction = nanos === 0 ? "" : `.${String(Math.abs(nanos)).padStart(9, "0").replace(/0+$/, "")}`;
  return `${sign}${whole}${fraction}s`;
}
