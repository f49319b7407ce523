import assert from "node:assert/strict";
import { test } from "node:test";
import { parseYaml } from "./yaml-source.js";
import { writeYaml } from "./yaml-text.js";

test("a text with lines of spaces alone is read as it was after it is written", () => {
  for (const text of [" \n", "  \n\n", "a \nb", "\n \n", "a\n\t\nb\n"]) {
    const { documents, problems } = parseYaml(writeYaml({ [text]: text, list: [text] }));
    assert.deepEqual(problems, [], JSON.stringify(text));
    assert.deepEqual(
      documents.map(({ value }) => value),
      [{ [text]: text, list: [text] }],
    );
  }
});
