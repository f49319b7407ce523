import { createPattern } from "./values/pattern.js";
import {
  type LimitRules,
  limitChecks,
  type RuleSet,
  ruleCheck,
  ruleOf,
  type ValueCheck,
  type WellKnown,
} from "./values/value-check.js";

type Bytes = Uint8Array;

const limits: LimitRules<Bytes> = {
  const: ["must be {}", (limit: Bytes) => (value) => equal(value, limit)],
  len: ["must have {} bytes", (limit: bigint) => (value) => value.length === Number(limit)],
  minLen: ["must have at least {} bytes", (limit: bigint) => (value) => value.length >= Number(limit)],
  maxLen: ["must have at most {} bytes", (limit: bigint) => (value) => value.length <= Number(limit)],
  pattern: [(limit: string) => `must match ${limit}`, matches],
  prefix: ["must begin with {}", (limit: Bytes) => (value) => equal(value.subarray(0, limit.length), limit)],
  suffix: [
    "must end with {}",
    (limit: Bytes) => (value) =>
      limit.length <= value.length && equal(value.subarray(value.length - limit.length), limit),
  ],
  contains: ["must contain {}", (limit: Bytes) => (value) => latin1(value).includes(latin1(limit))],
  in: ["must be one of the values of the rule", (limit: readonly Bytes[]) => (value) => holds(limit, value)],
  notIn: ["must not be this value", (limit: readonly Bytes[]) => (value) => !holds(limit, value)],
};

/** The rules of bytes. */
export function bytesChecks(rules: RuleSet): readonly ValueCheck[] {
  const checks = limitChecks("bytes", rules, limits);
  const form = ruleOf<WellKnown>(rules, "wellKnown");
  const lengths = form?.value === true ? addressLengths[form.case ?? ""] : undefined;
  if (lengths === undefined) return checks;
  const message = `must be an address of ${lengths.join(" or ")} bytes`;
  return [...checks, ruleCheck(`bytes.${form?.case}: true`, message, (value: Bytes) => lengths.includes(value.length))];
}

const addressLengths: Readonly<Record<string, readonly number[]>> = { ip: [4, 16], ipv4: [4], ipv6: [16] };

function matches(pattern: string): (value: Bytes) => boolean {
  const test = createPattern(pattern);
  return (value) => test(latin1(value));
}

function holds(items: readonly Bytes[], value: Bytes): boolean {
  return items.some((item) => equal(item, value));
}

function equal(a: Bytes, b: Bytes): boolean {
  return a.length === b.length && a.every((byte, index) => byte === b[index]);
}

function latin1(bytes: Bytes): string {
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return text;
}
