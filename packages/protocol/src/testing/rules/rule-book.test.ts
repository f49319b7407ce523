import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { describeMode } from "../transcripts/transcript.js";
import { listSizes, reasonElsewhere } from "../transcripts/transcript-coverage.js";
import { type Point, parseRules } from "./rule-book.js";
import { readCases, readChapters, readClientCases, root } from "./rule-files.js";
import { casesOf, label, rulePages } from "./rule-page.js";

const chapters = readChapters();
const points = chapters.flatMap(({ parts }) => parts).flatMap(({ points }) => points);
const cases = readCases();
const clientCases = readClientCases();

/** The mistakes of all points, by a check that returns undefined for a correct one. */
function assertEach(check: (point: Point) => readonly string[]): void {
  const wrong = points.flatMap((point) => check(point).map((message) => `${point.list} ${point.number}: ${message}`));
  assert.deepEqual(wrong, []);
}

test("every number of every list has one row, in order", () => {
  for (const [list, size] of Object.entries(listSizes)) {
    const numbers = points.filter((point) => point.list === list).map(({ number }) => number);
    assert.deepEqual(
      numbers,
      Array.from({ length: size }, (_, index) => index + 1),
      list,
    );
  }
});

test("every place that a row names exists: the file, and in it the symbol", () => {
  assertEach(({ places }) =>
    places.flatMap(({ file, symbol }) => {
      if (!existsSync(`${root}${file}`)) return [`there is no ${file}`];
      return declares(read(file), symbol) ? [] : [`${file} declares no ${symbol}`];
    }),
  );
});

test("every test that a row names exists: the file, and in it the title", () => {
  assertEach(({ tests }) =>
    tests.flatMap(({ file, title }) => {
      if (!existsSync(`${root}${file}`)) return [`there is no ${file}`];
      return hasTest(read(file), title) ? [] : [`${file} has no test ${title}`];
    }),
  );
});

test("each implemented point names its place, and is shown by transcripts on all its streams, or by a test with a reason", () => {
  assertEach((point) => {
    const { subject, places, tests, differs, toCome } = point;
    const own = casesOf(point, subject.kind === "client" ? clientCases : cases);
    if (subject.kind === "client")
      return places.length > 0 && own.length + tests.length + (point.note?.length ?? 0) === 0
        ? ["shown by no test"]
        : [];
    if (toCome !== undefined) return own.length > 0 ? ["to come, but it has a transcript"] : [];
    if (places.length === 0) return differs === undefined ? ["says neither where it is nor that it is to come"] : [];
    if (subject.kind === "rest" || reasonElsewhere(point) !== undefined)
      return tests.length === 0 ? ["shown by no test"] : [];
    const modes = own.flatMap(({ modes }) => modes);
    return subject.variants.flatMap((variant) =>
      subject.ads
        .filter((ads) => !modes.some((mode) => mode.variant === variant && mode.ads === ads))
        .map((ads) => `no transcript on ${describeMode({ variant, ads, api: "v3", type: undefined })}`),
    );
  });
});

test("each tag of a transcript is a point that exists", () => {
  const known = new Set(points.map(label));
  for (const { file, tags } of [...cases, ...clientCases])
    for (const tag of tags) assert.ok(known.has(label(tag)), `${file}: ${tag.list} ${tag.number}`);
});

test("docs/protocol matches the rules and transcripts; if not: npm run docs -w @xdskit/protocol", () => {
  const pages = rulePages(chapters, cases, clientCases);
  for (const [file, text] of pages) assert.equal(read(file), text, file);
  const written = readdirSync(`${root}docs/protocol`).map((name) => `docs/protocol/${name}`);
  assert.deepEqual(
    written.filter((file) => !pages.has(file)),
    [],
  );
});

test("every number in the index leads to its row", () => {
  const links = [...read("docs/protocol.md").matchAll(/\]\((protocol\/[a-z-]+\.md)#([a-z]+-\d+)\)/g)];
  assert.equal(links.length, points.length);
  for (const [, page = "", anchor = ""] of links) {
    assert.ok(read(`docs/${page}`).includes(`<a id="${anchor}"></a>`), `${page}#${anchor}`);
  }
});

test("a malformed row is refused with its line", () => {
  for (const [text, message] of [
    ["# a", /x:1: want chapter: TITLE/],
    ["chapter: c\nrule 1, sotw: x", /x:2: a line before the first part/],
    ["chapter: c\n# a\nrule 1, rest ads: x", /x:3: want "sotw/],
    ["chapter: c\n# a\nrule 1, sotw: x\nin a.ts", /x:4: want FILE SYMBOL/],
    ["chapter: c\n# a\nrule 1, sotw: x\nby a.test.ts", /x:4: want FILE: TITLE/],
    ["chapter: c\n# a\nrule 1, sotw: x\nrule 2: y", /x:4: neither a point nor/],
  ] as const)
    assert.throws(() => parseRules("x", text), message);
});

test("a symbol and a title must be declared, not only mentioned", () => {
  const template = `f $${"{g}"}`;
  const source = `const a = 1;\n// b(\n  #c(x) {}\n  d: 1,\ntest("e", () => e2());\n  await step(\n    "${template}",\n`;
  for (const symbol of ["a", "#c", "d"]) assert.ok(declares(source, symbol), symbol);
  for (const symbol of ["b", "e2", "x"]) assert.ok(!declares(source, symbol), symbol);
  for (const title of ["e", template]) assert.ok(hasTest(source, title), title);
  for (const title of ["e2", "f", "a"]) assert.ok(!hasTest(source, title), title);
});

function declares(source: string, symbol: string): boolean {
  const name = escaped(symbol);
  const words = "(?:export |async |readonly |static |get )*";
  return new RegExp(
    `^\\s*${words}(?:(?:function\\*?|const|let|class|interface|type) ${name}\\b|${name}\\??(?:[(:<]| =))`,
    "m",
  ).test(source);
}

/**
 * The title as the source spells it, with `${…}` where a loop makes several tests of one; or the argument of a call.
 */
function hasTest(source: string, title: string): boolean {
  return new RegExp(`\\b(?:test|it|describe|step|testEnvoy)\\(\\s*(["\`'])${escaped(title)}\\1`).test(source);
}

function escaped(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|]/g, "\\$&");
}

function read(file: string): string {
  return readFileSync(`${root}${file}`, "utf8");
}
