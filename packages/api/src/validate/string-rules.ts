import { createPattern } from "./values/pattern.js";
import { formCheck } from "./values/string-forms.js";
import { listOf, type RuleSet, ruleCheck, ruleOf, type ValueCheck, written } from "./values/value-check.js";

/** The rules of strings. Lengths count code points, as PGV does, and `…_bytes` bytes of UTF-8. */
export function stringChecks(rules: RuleSet): ValueCheck[] {
  const checks: ValueCheck[] = [];
  const add = <Limit>(
    name: string,
    proto: string,
    message: (limit: Limit) => string,
    keeps: (value: string, limit: Limit) => boolean,
  ) => {
    const limit = ruleOf<Limit>(rules, name);
    if (limit !== undefined) {
      checks.push(
        ruleCheck(`string.${proto}: ${written(limit)}`, message(limit), (value: string) => keeps(value, limit)),
      );
    }
  };
  add<string>(
    "const",
    "const",
    (limit) => `must be ${written(limit)}`,
    (value, limit) => value === limit,
  );
  add<bigint>(
    "len",
    "len",
    (limit) => `must have ${limit} characters`,
    (value, limit) => codePoints(value) === Number(limit),
  );
  add<bigint>(
    "minLen",
    "min_len",
    atLeast,
    (value, limit) => value.length >= Number(limit) && codePoints(value) >= Number(limit),
  );
  add<bigint>(
    "maxLen",
    "max_len",
    (limit) => `must have at most ${limit} characters`,
    (value, limit) => codePoints(value) <= Number(limit),
  );
  add<bigint>(
    "lenBytes",
    "len_bytes",
    (limit) => `must have ${limit} bytes`,
    (value, limit) => utf8Length(value) === Number(limit),
  );
  add<bigint>("minBytes", "min_bytes", atLeast, (value, limit) => utf8Length(value) >= Number(limit));
  add<bigint>(
    "maxBytes",
    "max_bytes",
    (limit) => `must have at most ${limit} bytes`,
    (value, limit) => utf8Length(value) <= Number(limit),
  );
  const pattern = ruleOf<string>(rules, "pattern");
  if (pattern !== undefined) {
    const matches = createPattern(pattern);
    checks.push(ruleCheck(`string.pattern: ${pattern}`, `must match ${pattern}`, matches));
  }
  add<string>(
    "prefix",
    "prefix",
    (limit) => `must begin with ${written(limit)}`,
    (value, limit) => value.startsWith(limit),
  );
  add<string>(
    "suffix",
    "suffix",
    (limit) => `must end with ${written(limit)}`,
    (value, limit) => value.endsWith(limit),
  );
  add<string>(
    "contains",
    "contains",
    (limit) => `must contain ${written(limit)}`,
    (value, limit) => value.includes(limit),
  );
  add<string>(
    "notContains",
    "not_contains",
    (limit) => `must not contain ${written(limit)}`,
    (value, limit) => !value.includes(limit),
  );
  const allowed = listOf<string>(rules, "in");
  if (allowed.length > 0) {
    checks.push(
      ruleCheck(
        `string.in: ${written(allowed)}`,
        `must be one of ${allowed.map(written).join(", ")}`,
        (value: string) => allowed.includes(value),
      ),
    );
  }
  const forbidden = listOf<string>(rules, "notIn");
  if (forbidden.length > 0) {
    checks.push(
      ruleCheck(
        `string.not_in: ${written(forbidden)}`,
        "must be another value than this",
        (value: string) => !forbidden.includes(value),
      ),
    );
  }
  const form = ruleOf<{ readonly case?: string; readonly value?: unknown }>(rules, "wellKnown");
  if (form?.case !== undefined) {
    const check = formCheck(form.case, form.value, ruleOf<boolean>(rules, "strict") ?? true);
    if (check !== undefined) checks.push(check);
  }
  return checks;
}

function atLeast(limit: bigint): string {
  return limit === 1n ? "must not be empty" : `must have at least ${limit} characters`;
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

function utf8Length(text: string): number {
  return Buffer.byteLength(text);
}
