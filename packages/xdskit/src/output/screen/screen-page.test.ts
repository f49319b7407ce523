import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createScreenPage } from "./screen-page.js";

function screen(rows: number, columns: number) {
  let out = "";
  const terminal = {
    out: (text: string) => {
      out += text;
    },
    err: () => assert.fail("it is a screen"),
  };
  const page = createScreenPage(terminal, { rows: () => rows, columns: () => columns });
  return { page, drawn: () => out.split("\u001b[H").at(-1)?.replaceAll("\u001b[K", "").replace("\u001b[J", "") };
}

describe("a page on a screen", () => {
  it("takes the place of the one before, and is cut at its end", () => {
    const { page, drawn } = screen(5, 80);
    page.show("1\n2\n3\n4\n5\n6\n");
    assert.equal(drawn(), "1\n2\n3\n… and 3 more lines\n");
    page.show("1\n2\n3\n4\n");
    assert.equal(drawn(), "1\n2\n3\n4\n");
    page.problem("gone");
    assert.equal(drawn(), "gone\n");
  });

  it("counts a line that is too long as the rows that it takes", () => {
    const { page, drawn } = screen(5, 11);
    page.show(`1\n${"x".repeat(20)}\n3\n4\n`);
    assert.equal(drawn(), `1\n${"x".repeat(20)}\n… and 2 m…\n`);
    page.show(`1\n${"x".repeat(31)}\n3\n`);
    assert.equal(drawn(), "1\n… and 2 m…\n");
  });
});
