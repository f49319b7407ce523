import assert from "node:assert/strict";
import { it } from "node:test";
import { shortened } from "./shortened.js";

it("a long text ends with a paragraph, a sentence or a word", () => {
  assert.equal(shortened("short", 10), "short");
  assert.equal(shortened("One thing is said.\n\nAnother follows here.", 30), "One thing is said. …");
  assert.equal(shortened("One thing is said. Another follows.", 25), "One thing is said. …");
  assert.equal(shortened("word after word after word", 15), "word after …");
  assert.equal(shortened("x".repeat(30), 10), `${"x".repeat(10)} …`);
});
