import { createPattern } from "./values/pattern.js";
import { formCheck } from "./values/string-forms.js";
import {
  type LimitRules,
  limitChecks,
  listed,
  type RuleSet,
  ruleOf,
  type ValueCheck,
  type WellKnown,
} from "./values/value-check.js";

/** Lengths count code points, as PGV does, and `…Bytes` bytes of UTF-8. */
const limits: LimitRules<string> = {
  const: ["must be {}", (limit: string) => (value) => value === limit],
  len: ["must have {} characters", (limit: bigint) => (value) => codePoints(value) === Number(limit)],
  minLen: [
    (limit: bigint) => (limit === 1n ? "must not be empty" : `must have at least ${limit} characters`),
    (limit: bigint) => (value) => value.length >= Number(limit) && codePoints(value) >= Number(limit),
  ],
  maxLen: ["must have at most {} characters", (limit: bigint) => (value) => codePoints(value) <= Number(limit)],
  lenBytes: ["must have {} bytes", (limit: bigint) => (value) => Buffer.byteLength(value) === Number(limit)],
  minBytes: [
    (limit: bigint) => (limit === 1n ? "must not be empty" : `must have at least ${limit} bytes`),
    (limit: bigint) => (value) => Buffer.byteLength(value) >= Number(limit),
  ],
  maxBytes: ["must have at most {} bytes", (limit: bigint) => (value) => Buffer.byteLength(value) <= Number(limit)],
  pattern: [(limit: string) => `must match ${limit}`, createPattern],
  prefix: ["must begin with {}", (limit: string) => (value) => value.startsWith(limit)],
  suffix: ["must end with {}", (limit: string) => (value) => value.endsWith(limit)],
  contains: ["must contain {}", (limit: string) => (value) => value.includes(limit)],
  notContains: ["must not contain {}", (limit: string) => (value) => !value.includes(limit)],
  in: [
    (limit: readonly string[]) => `must be one of ${listed(limit)}`,
    (limit: readonly string[]) => (value) => limit.includes(value),
  ],
  notIn: ["must not be this value", (limit: readonly string[]) => (value) => !limit.includes(value)],
};

/** The rules of strings. */
export function stringChecks(rules: RuleSet): readonly ValueCheck[] {
  const checks = limitChecks("string", rules, limits);
  const form = ruleOf<WellKnown>(rules, "wellKnown");
  const check = form?.case && formCheck(form.case, form.value, ruleOf<boolean>(rules, "strict") ?? true);
  return check ? [...checks, check] : checks;
}

function codePoints(text: string): number {
  let count = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code >= 0xd800 && code < 0xdc00) at++;
    count++;
  }
  return count;
}
