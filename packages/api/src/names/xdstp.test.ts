import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { anyText } from "../testing/any-text.js";
import { times } from "../testing/effort.js";
import {
  authorityOf,
  canonicalName,
  formatName,
  globOf,
  isGlob,
  isGlobName,
  nameProblem,
  parseName,
  sameName,
} from "./xdstp.js";

const listener = "envoy.config.listener.v3.Listener";
const url = `type.googleapis.com/${listener}`;

test("a name of federation has an authority, a type, a path, parameters and directives", () => {
  const name = `xdstp://some.control.plane/${listener}/foo/b%61r?b=2&a=x%26y#entry=e,alt=xdstp://o/${listener}/z%3Fc=1`;
  const parsed = parseName(name);
  assert.equal(parsed.kind, "xdstp");
  if (parsed.kind !== "xdstp") return;
  const { authority, type, path, parameters, directives } = parsed;
  assert.deepEqual([authority, type, path], ["some.control.plane", listener, ["foo", "bar"]]);
  assert.deepEqual(
    [...parameters],
    [
      ["a", "x&y"],
      ["b", "2"],
    ],
  );
  assert.deepEqual(directives[0], { kind: "entry", name: "e" });
  assert.ok(directives[1]?.kind === "alt");
  assert.deepEqual([...directives[1].locator.parameters], [["c", "1"]]);
  assert.equal(
    formatName(parsed),
    `xdstp://some.control.plane/${listener}/foo/bar?a=x%26y&b=2#entry=e,alt=xdstp://o/${listener}/z?c=1`,
  );
});

test("names that mean the same have one canonical form", () => {
  const canonical = `xdstp://a/${listener}/x%20y?a=1&b=2`;
  for (const other of [
    `xdstp://a/${listener}/x y?b=2&a=1`,
    `xdstp://a/${listener}/x%20%79?a=1&b=2`,
    `xdstp://%61/${listener}/x%20y?%61=1&b=2`,
  ]) {
    assert.equal(canonicalName(other), canonical);
    assert.ok(sameName(other, canonical));
  }
  // A slash that is not a separator, and another value: different names.
  assert.ok(!sameName(`xdstp://a/${listener}/x%2Fy`, `xdstp://a/${listener}/x/y`));
  assert.ok(!sameName(`xdstp://a/${listener}/x?a=1`, `xdstp://a/${listener}/x?a=2`));
  assert.equal(canonicalName(`xdstp://a/${listener}/x?`), `xdstp://a/${listener}/x`);
  assert.equal(canonicalName("x?b=2&a=1"), "x?b=2&a=1");
});

describe("a malformed name", () => {
  const cases: readonly (readonly [name: string, problem: RegExp | undefined])[] = [
    ["edge", undefined],
    [`xdstp://a/${listener}/x`, undefined],
    [`xdstp:///${listener}/x`, undefined],
    ["xdstp:a", /followed by \/\//],
    ["xdstp://a", /type of the resource is missing/],
    ["xdstp://a//x", /type of the resource is missing/],
    [`xdstp://a/${listener}`, /lacks a name/],
    ["xdstp://a/b c/x", /"b c" is no full name/],
    [`xdstp://a/${listener}/%zz`, /"%zz" is not percent-encoded/],
    [`xdstp://a/${listener}/%ff`, /not percent-encoded UTF-8/],
    [`xdstp://a/${listener}/x?=1`, /has no key/],
    [`xdstp://a/${listener}/x?a=1&%61=2`, /"a" is given twice/],
    [`xdstp://a/${listener}/x#y`, /directive "y" is not known/],
    [`xdstp://a/${listener}/x#entry=a b`, /must be of the characters/],
    [`xdstp://a/${listener}/x#alt=y`, /must be an xdstp/],
    [`xdstp://a/${listener}/x#entry=y`, /belong to locators/],
    [`xdstp://a/${listener}/x/*`, /ends with \/\*/],
    [
      "xdstp://a/envoy.config.cluster.v3.Cluster/x",
      /of type envoy\.config\.cluster\.v3\.Cluster, and the resource is of type envoy\.config\.listener/,
    ],
  ];
  for (const [name, problem] of cases) {
    test(`a malformed name is refused with the reason (${name})`, () => {
      const found = nameProblem(name, url);
      if (problem === undefined) assert.equal(found, undefined);
      else assert.match(found ?? "", problem);
    });
  }
});

test("a name is in the collection of its directory", () => {
  assert.equal(globOf(`xdstp://a/${listener}/x/y?b=1&a=2`), `xdstp://a/${listener}/x/*?a=2&b=1`);
  assert.equal(globOf(`xdstp://a/${listener}/y`), `xdstp://a/${listener}/*`);
  assert.equal(globOf(`xdstp://a/${listener}/x/*`), undefined);
  assert.equal(globOf("x/y"), undefined);
  assert.deepEqual(
    ["xdstp://a/T/x/*", "xdstp://a/T/*?a=b", "xdstp://a/T/x", "xdstp://a/T/**", "xdstp:/*", "x/*", "*"].map(isGlobName),
    [true, true, false, false, false, false, false],
  );
});

test("an authority owns its own names", () => {
  assert.deepEqual(["xdstp://a.b/T/x", "xdstp:///T/x", "x", "xdstp://"].map(authorityOf), [
    "a.b",
    "",
    undefined,
    undefined,
  ]);
});

const part = fc.constantFrom(
  "a",
  "b",
  "",
  "/",
  "/*",
  "?",
  "x=1",
  "&",
  "y=2",
  "#",
  "entry=",
  "alt=xdstp:",
  "%",
  "%2F",
  "%61",
  "T",
  "//",
  ",",
  "é",
);
const odd = fc.oneof(
  anyText(),
  fc.array(part, { maxLength: 12 }).map((parts) => `xdstp://${parts.join("")}`),
);

test("no name makes the reader throw, and a canonical name stays as it is", () => {
  fc.assert(
    fc.property(odd, (name) => {
      const canonical = canonicalName(name);
      assert.equal(canonicalName(canonical), canonical);
      const [before, after] = [parseName(name), parseName(canonical)];
      assert.deepEqual(after, before);
      const glob = globOf(name);
      if (glob !== undefined) assert.ok(isGlobName(glob) && canonicalName(glob) === glob);
      nameProblem(name, url);
    }),
    { numRuns: times(500) },
  );
});

/** Names that are made canonical without being parsed. */
const usual = fc
  .record({
    type: fc.constantFrom(listener, "T", "T/", "", "1T", "T//"),
    path: fc.array(fc.constantFrom("a", "b", "*", "", "a:b"), { maxLength: 3 }),
    parameters: fc.array(fc.constantFrom("x=1", "y=2", "a=", "x=2", "=1", "y", "b=c=d", "k=a/b?c"), { maxLength: 4 }),
  })
  .map(({ type, path, parameters }) => `xdstp://a/${type}/${path.join("/")}?${parameters.join("&")}`);

test("the fast way to the canonical form and to globs gives the same as a full parse", () => {
  fc.assert(
    fc.property(fc.oneof(usual, odd), (name) => {
      const parsed = parseName(name);
      assert.equal(canonicalName(name), parsed.kind === "xdstp" ? formatName(parsed) : name);
      assert.equal(isGlobName(name), parsed.kind === "xdstp" && isGlob(parsed));
    }),
    { numRuns: times(500) },
  );
});

test("a percent-encoded text is decoded exactly when JavaScript decodes it", () => {
  const piece = fc.oneof(
    fc.integer({ min: 0, max: 255 }).map((byte) => `%${byte.toString(16).padStart(2, "0")}`),
    fc.string({ unit: "grapheme", maxLength: 2 }).map((text) => encodeURIComponent(text)),
    fc.constantFrom("%", "a", "%4", "%C3%A9", "%e0%80%80", "%ed%a0%80", "%f4%90%80%80", "%f0%9f%98%80"),
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 6 }), (pieces) => {
      const text = `a${pieces.join("")}`.replaceAll("/", "").replaceAll("?", "").replaceAll("#", "");
      let decoded: string | undefined;
      try {
        decoded = decodeURIComponent(text);
      } catch {}
      const parsed = parseName(`xdstp://a/T/${text}`);
      assert.equal(parsed.kind === "xdstp" ? parsed.path[0] : undefined, decoded);
    }),
    { numRuns: times(500) },
  );
});

test("a malformed name costs about as much as a good one", () => {
  const effort = (make: (index: number) => string) => {
    const names = Array.from({ length: 30_000 }, (_, index) => make(index));
    const before = process.cpuUsage().user;
    for (const name of names) canonicalName(name);
    return (process.cpuUsage().user - before) / 1_000;
  };
  const good = (index: number) => `xdstp://a/T/%41${index}`;
  effort(good);
  for (const bad of [(index: number) => `xdstp://%/${index}`, (index: number) => `xdstp://a/T/%ff${index}`]) {
    const tries: string[] = [];
    // The garbage collector may run once.
    while (tries.length < 3) {
      const [usual, odd] = [effort(good), effort(bad)];
      if (odd < 1.5 * Math.max(usual, 10)) break;
      tries.push(`${Math.round(usual)} ms, and ${Math.round(odd)} ms for ${bad(1)}`);
    }
    assert.ok(tries.length < 3, tries.join("; "));
  }
});

test("a formatted name is parsed into the same parts", () => {
  const text = fc.string({ unit: "grapheme" });
  const parts = fc.record(
    {
      kind: fc.constant("xdstp" as const),
      authority: text,
      type: fc.constantFrom(listener, "T"),
      path: fc.array(text, { minLength: 1 }).filter((path) => path.join("") !== ""),
      parameters: fc
        .dictionary(
          text.filter((key) => key !== ""),
          text,
        )
        .map((pairs) => new Map(Object.entries(pairs).sort(([a], [b]) => (a < b ? -1 : 1)))),
      directives: fc.constant([]),
    },
    { noNullPrototype: true },
  );
  fc.assert(fc.property(parts, (name) => assert.deepEqual(parseName(formatName(name)), name)));
});
