import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { picture } from "./picture.mjs";
import { createScreen } from "./screen.mjs";
import { session } from "./session.mjs";

const textOf = (rows: ReturnType<typeof createScreen>["rows"]) =>
  rows.map((row) => row.map((cell) => cell.text).join(""));

test("a screen shows what a terminal would: colours, wraps, and what was written over", () => {
  const screen = createScreen(10);
  screen.write("\\\x1b[1G\x1b[0K$ ls\r\n", 5);
  screen.write("\x1b[31merror\x1b[39m ok and more\r\n\x1b[?2004h", 9);
  assert.deepEqual(textOf(screen.rows), ["$ ls", "error ok a", "nd more", ""]);
  assert.deepEqual(screen.rows[1]?.[0], { text: "e", style: "c1", at: 9 });
  assert.deepEqual(screen.rows[1]?.[6], { text: "o", style: "", at: 9 });
});

test("a picture shows each piece at its time, and moves up for rows beyond its height", () => {
  const screen = createScreen(10);
  screen.write("a<b\r\n", 0);
  screen.write("c\r\n", 500);
  screen.write("d", 1_000);
  const svg = picture(screen.rows, { columns: 10, height: 2, title: "t" });
  assert.match(svg, /animation-delay:0\.50s">c</);
  assert.match(svg, /a&lt;b/);
  assert.match(svg, /100\.00% \{ transform: translateY\(-19px\) \}/);
});

test("the recording in docs/images is of the session as it is; if not: npm run recording", () => {
  const svg = readFileSync(new URL("../../docs/images/first-minute.svg", import.meta.url), "utf8");
  const letters = (text: string) => text.replaceAll(/\s/g, "");
  const shown = svg
    .replaceAll(/<style>.*?<\/style>|<[^>]*>/gs, "")
    .replaceAll("&gt;", ">")
    .replaceAll("&amp;", "&");
  let from = 0;
  for (const { type } of session) {
    const at = letters(shown).indexOf(letters(type), from);
    assert.ok(at >= from, type);
    from = at + 1;
  }
});
