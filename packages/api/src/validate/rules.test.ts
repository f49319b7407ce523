import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { bytesChecks } from "./bytes-rules.js";
import { numberChecks } from "./order-rules.js";
import { stringChecks } from "./string-rules.js";
import { durationChecks, timestampChecks } from "./time-rules.js";
import { judgeRegex } from "./values/regex.js";
import { allOf, type RuleSet, type ValueCheck } from "./values/value-check.js";

/** The values that break the rules. */
function broken(checks: readonly ValueCheck[], values: readonly unknown[]): readonly unknown[] {
  const check = allOf(checks);
  return values.filter((value) => check?.(value) !== undefined);
}

suite("the rules of numbers", () => {
  const of = (rules: RuleSet, values: readonly unknown[], kind = "int32") => broken(numberChecks(kind, rules), values);
  test("the rules of numbers have open and closed bounds", () => {
    assert.deepEqual(of({ gt: 1, lte: 3 }, [0, 1, 2, 3, 4]), [0, 1, 4]);
    assert.deepEqual(of({ gte: 1, lt: 3 }, [0, 1, 2, 3, 4]), [0, 3, 4]);
  });
  test("the rules of numbers allow the values outside if the lower bound is above the upper one", () => {
    assert.deepEqual(of({ gt: 10, lt: 5 }, [4, 5, 7, 10, 11]), [5, 7, 10]);
    assert.deepEqual(of({ gte: 10, lte: 5 }, [4, 5, 7, 10, 11]), [7]);
  });
  test("the rules of numbers work for 64 bits", () => {
    assert.deepEqual(of({ gte: 9007199254740993n }, [9007199254740992n, 9007199254740993n], "uint64"), [
      9007199254740992n,
    ]);
  });
  test("the rules of numbers know const, in and not_in, and count a rule with the value 0", () => {
    assert.deepEqual(of({ const: 0 }, [0, 1]), [1]);
    assert.deepEqual(of({ in: [1, 2] }, [1, 3]), [3]);
    assert.deepEqual(of({ in: [], notIn: [1, 2] }, [1, 3]), [1]);
  });
});

suite("the rules of strings", () => {
  const of = (rules: RuleSet, values: readonly string[]) => broken(stringChecks(rules), values);
  const form = (name: string, values: readonly string[]) => of({ wellKnown: { case: name, value: true } }, values);
  test("the rules of strings count lengths in code points and bytes", () => {
    assert.deepEqual(of({ len: 1n }, ["a", "é", "😀", "ab", ""]), ["ab", ""]);
    assert.deepEqual(of({ minLen: 2n, maxLen: 3n }, ["😀", "ab", "😀😀😀", "abcd"]), ["😀", "abcd"]);
    assert.deepEqual(of({ lenBytes: 4n }, ["😀", "abcd", "abc"]), ["abc"]);
    assert.deepEqual(of({ minBytes: 2n, maxBytes: 3n }, ["a", "é", "😀"]), ["a", "😀"]);
  });
  test("the rules of strings know parts, lists and patterns", () => {
    assert.deepEqual(of({ prefix: "a", suffix: "z", contains: "m", notContains: "x" }, ["amz", "az", "amxz", "mz"]), [
      "az",
      "amxz",
      "mz",
    ]);
    assert.deepEqual(of({ in: ["a"], notIn: ["b"] }, ["a", "b"]), ["b"]);
    assert.deepEqual(of({ pattern: "^[0-9a-zA-Z_\\-\\./~:]+$" }, ["a-b", "a b"]), ["a b"]);
    assert.deepEqual(of({ pattern: "(?i)^A\\z" }, ["a", "b"]), ["b"]);
    assert.deepEqual(of({ const: "" }, ["", "a"]), ["a"]);
  });
  test("the rules of strings know addresses and names", () => {
    const addresses = [
      "1.2.3.4",
      "1.2.3.256",
      "01.2.3.4",
      "::1",
      "1::2::3",
      "::ffff:1.2.3.4",
      "1:2:3:4:5:6:7:8",
      "1:2:3:4:5:6:7",
      "12345::",
      "a",
    ];
    assert.deepEqual(form("ipv4", addresses), addresses.slice(1));
    assert.deepEqual(form("ipv6", addresses), [
      "1.2.3.4",
      "1.2.3.256",
      "01.2.3.4",
      "1::2::3",
      "1:2:3:4:5:6:7",
      "12345::",
      "a",
    ]);
    assert.deepEqual(form("hostname", ["a.example", "a.example.", "-a", "a..b", "a_b", `${"a".repeat(64)}.b`, ""]), [
      "-a",
      "a..b",
      "a_b",
      `${"a".repeat(64)}.b`,
      "",
    ]);
    assert.deepEqual(form("address", ["a.example", "::1", "a b"]), ["a b"]);
    assert.deepEqual(form("email", ["a@b.example", "a", "@b", "a b@c"]), ["a", "@b", "a b@c"]);
    assert.deepEqual(form("uri", ["http://a/b", "/b", "a b:"]), ["/b", "a b:"]);
    assert.deepEqual(form("uriRef", ["/b?c#d", "%zz"]), ["%zz"]);
    assert.deepEqual(form("uuid", ["123e4567-e89b-12d3-a456-426614174000", "123"]), ["123"]);
  });
  test("the rules of strings know headers", () => {
    const header = (known: number, strict: boolean | undefined, values: readonly string[]) =>
      of({ wellKnown: { case: "wellKnownRegex", value: known }, ...(strict === undefined ? {} : { strict }) }, values);
    assert.deepEqual(header(1, undefined, [":path", "x-a", "a b", "a:b", ""]), ["a b", "a:b", ""]);
    assert.deepEqual(header(2, undefined, ["a\tb", "é", "a\nb", "\u007f"]), ["a\nb", "\u007f"]);
    assert.deepEqual(header(2, false, ["a\u0001b", "a\nb", "a\0"]), ["a\nb", "a\0"]);
  });
});

suite("the other rules", () => {
  const bytes = (...values: number[]) => Uint8Array.from(values);
  test("the rules hold for bytes", () => {
    const of = (rules: RuleSet, values: readonly Uint8Array[]) =>
      broken(bytesChecks(rules), values).map((value) => [...(value as Uint8Array)]);
    assert.deepEqual(of({ minLen: 1n, maxLen: 2n }, [bytes(), bytes(1), bytes(1, 2, 3)]), [[], [1, 2, 3]]);
    assert.deepEqual(of({ prefix: bytes(1), suffix: bytes(2), contains: bytes(9) }, [bytes(1, 9, 2), bytes(1, 2)]), [
      [1, 2],
    ]);
    assert.deepEqual(of({ in: [bytes(1)] }, [bytes(1), bytes(2)]), [[2]]);
    assert.deepEqual(of({ wellKnown: { case: "ipv4", value: true } }, [bytes(1, 2, 3, 4), bytes(1)]), [[1]]);
    assert.deepEqual(of({ pattern: "^\\x00$" }, [bytes(0), bytes(1)]), [[1]]);
  });
  test("the rules hold for durations and times", () => {
    const span = (seconds: number, nanos = 0) => ({ seconds: BigInt(seconds), nanos });
    const short = span(0, 999_999);
    assert.deepEqual(broken(durationChecks({ gte: span(0, 1_000_000) }), [short, span(0, 1_000_000), span(1)]), [
      short,
    ]);
    assert.equal(durationChecks({ gte: span(0, 1_500_000) })[0]?.(short)?.message, "must be at least 0.0015s");
    assert.deepEqual(broken(durationChecks({ in: [span(1), span(2)] }), [span(1), span(3)]), [span(3)]);
    assert.deepEqual(broken(timestampChecks({ ltNow: true }), [span(0), span(99_999_999_999)]), [span(99_999_999_999)]);
  });
});

test("regular expressions are RE2's", () => {
  for (const good of ["^/a/.*$", "(?i)a", "(?P<name>a)", "\\d+", "[[:alpha:]]", "\\pL", "\\C", "\\\\C", ""]) {
    assert.equal(judgeRegex(good).kind, "valid", good);
  }
  const reasons = {
    "(a": /missing closing \)/,
    "a(?=b)": /no look-ahead/,
    "(a)\\1": /no back references/,
    "a{2000}": /repeat/,
    "*a": /./,
    "a++": /./,
  };
  for (const [bad, expected] of Object.entries(reasons)) {
    const verdict = judgeRegex(bad);
    assert.match(verdict.kind === "invalid" ? verdict.reason : "", expected, bad);
  }
});
