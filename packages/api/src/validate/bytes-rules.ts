import { createPattern } from "./values/pattern.js";
import { listOf, type RuleSet, ruleCheck, ruleOf, type ValueCheck, written } from "./values/value-check.js";

/** The rules of bytes. */
export function bytesChecks(rules: RuleSet): ValueCheck[] {
  const checks: ValueCheck[] = [];
  const add = <Limit>(
    name: string,
    proto: string,
    message: string,
    keeps: (value: Uint8Array, limit: Limit) => boolean,
  ) => {
    const limit = ruleOf<Limit>(rules, name);
    if (limit === undefined) return;
    checks.push(
      ruleCheck(`bytes.${proto}: ${written(limit)}`, message.replace("{}", written(limit)), (value: Uint8Array) =>
        keeps(value, limit),
      ),
    );
  };
  add<Uint8Array>("const", "const", "must be {}", equal);
  add<bigint>("len", "len", "must have {} bytes", (value, limit) => value.length === Number(limit));
  add<bigint>("minLen", "min_len", "must have at least {} bytes", (value, limit) => value.length >= Number(limit));
  add<bigint>("maxLen", "max_len", "must have at most {} bytes", (value, limit) => value.length <= Number(limit));
  add<Uint8Array>("prefix", "prefix", "must begin with {}", (value, limit) =>
    equal(value.subarray(0, limit.length), limit),
  );
  add<Uint8Array>(
    "suffix",
    "suffix",
    "must end with {}",
    (value, limit) => limit.length <= value.length && equal(value.subarray(value.length - limit.length), limit),
  );
  add<Uint8Array>("contains", "contains", "must contain {}", (value, limit) => latin1(value).includes(latin1(limit)));
  const pattern = ruleOf<string>(rules, "pattern");
  if (pattern !== undefined) {
    const matches = createPattern(pattern);
    checks.push(
      ruleCheck(`bytes.pattern: ${pattern}`, `must match ${pattern}`, (value: Uint8Array) => matches(latin1(value))),
    );
  }
  const allowed = listOf<Uint8Array>(rules, "in");
  if (allowed.length > 0) {
    checks.push(
      ruleCheck(`bytes.in: ${written(allowed)}`, "must be one of the values of the rule", (value: Uint8Array) =>
        allowed.some((item) => equal(item, value)),
      ),
    );
  }
  const forbidden = listOf<Uint8Array>(rules, "notIn");
  if (forbidden.length > 0) {
    checks.push(
      ruleCheck(
        `bytes.not_in: ${written(forbidden)}`,
        "must be another value than this",
        (value: Uint8Array) => !forbidden.some((item) => equal(item, value)),
      ),
    );
  }
  const form = ruleOf<{ readonly case?: string; readonly value?: unknown }>(rules, "wellKnown");
  const lengths = form?.value === true ? addressLengths[form.case ?? ""] : undefined;
  if (lengths !== undefined) {
    checks.push(
      ruleCheck(
        `bytes.${form?.case}: true`,
        `must be an address of ${lengths.join(" or ")} bytes`,
        (value: Uint8Array) => lengths.includes(value.length),
      ),
    );
  }
  return checks;
}

const addressLengths: Readonly<Record<string, readonly number[]>> = { ip: [4, 16], ipv4: [4], ipv6: [16] };

function equal(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, index) => byte === b[index]);
}

function latin1(bytes: Uint8Array): string {
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return text;
}
