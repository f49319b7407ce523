import assert from "node:assert/strict";
import { test } from "node:test";
import { judgeRegex } from "./regex.js";

const reasonOf = (expression: string) => {
  const verdict = judgeRegex(expression);
  return verdict.kind === "invalid" ? verdict.reason : "valid";
};

test("an expression that is too large for RE2 is refused from Envoy's limit on, and not below", () => {
  const taken = {
    characters: "ab{1000}".repeat(698),
    "a repetition of something optional": "(?:a?){999}".repeat(349),
    "one that repeats once": "(?:a{1}){999}".repeat(600),
    "a class of alternatives": "(?:a|b){1000}".repeat(698),
    "repetitions that are joined": "a*a{0,999}".repeat(800),
    "groups that are joined": "(?:(?:a*)(?:a*)(?:a*)(?:a*)){999}".repeat(300),
    "the same alternatives": `(?:${"a{1000}|".repeat(800)}b)`,
    "what is nowhere": "[^\\d\\D]{1000}".repeat(800),
    "a place": "(?:\\b|^){1000}".repeat(800),
    "none of it": "(?:a{1000}){0}".repeat(800),
  };
  for (const [what, expression] of Object.entries(taken)) assert.equal(reasonOf(expression), "valid", what);
  const refused = {
    characters: "ab{1000}".repeat(699),
    "a repetition of something optional": "(?:a?){999}".repeat(350),
    "five hundred": "(?:a?){999}".repeat(500),
    "a class of alternatives": "(?:a|b){1000}".repeat(700),
    "repetitions inside each other": "(?:(?:a{10}){10}){10}".repeat(720),
  };
  for (const [what, expression] of Object.entries(refused)) assert.match(reasonOf(expression), /too large/, what);
});

test("nested repetitions repeat a thousand times at most", () => {
  for (const good of ["(a{100}){10}", "((a{0,}){100}){10}", "(a{1000}){0}"])
    assert.equal(reasonOf(good), "valid", good);
  for (const bad of ["a{1001}", "(a{100}){11}", "((a{0,}){1000}){10}", "((a{1000}){0}){5}", "((a{0}){1000}){1000}"])
    assert.match(reasonOf(bad), /invalid repeat count/, bad);
});

test("an expression that is not compiled as it is written has the same size and faults", () => {
  const sizes = {
    "a{1000}": 1002,
    "(?i)a{1000}b": 1003,
    "[\\pL\\p{Greek}]{500}": 502,
    "(?:ab?){300}": 902,
    "(a{2,}?|b){200}": 1402,
  };
  for (const [expression, size] of Object.entries(sizes)) {
    assert.deepEqual(judgeRegex(expression), { kind: "valid", size }, expression);
  }
  for (const bad of ["a{1000}(", "a{1000}\\p{Nope}", "a{1000}{2}", "a{1000}[b", "(?i", "a{1000}[z-a]", "(?i)a{1000}**"])
    assert.notEqual(reasonOf(bad), "valid", bad);
});
