import assert from "node:assert/strict";
import {
  authorityOf,
  canonicalName,
  formatName,
  globOf,
  isCollection,
  isGlobName,
  nameProblem,
  parseName,
  refersTo,
  sameName,
} from "@xdskit/api";
import fc from "fast-check";
import { anyText } from "../../../packages/api/src/testing/any-text.js";
import { damaged } from "../kit/edits.js";
import { assertEffort, effortOf } from "../kit/effort.js";
import type { FuzzTarget } from "../kit/target.js";

const type = "type.googleapis.com/envoy.config.cluster.v3.Cluster";
const samples = [
  "xdstp://authority.example.com/envoy.config.cluster.v3.Cluster/a/b%20c/d?x=1&y=%C3%A9&z=#entry=a.b",
  "xdstp:///envoy.config.listener.v3.ListenerCollection/list?b=2&a=1",
  "xdstp://a/envoy.config.cluster.v3.Cluster/dir/*?a=1#alt=xdstp://b/envoy.config.cluster.v3.Cluster/c%23alt=x,entry=y",
].map((name) => new TextEncoder().encode(name));
const pieces = [
  "xdstp:",
  "//",
  "/",
  "?",
  "#",
  "&",
  "=",
  "%",
  "%2F",
  "%2A",
  "%25",
  "%00",
  "%ff",
  "*",
  "alt=",
  "entry=",
  ",",
  "é",
  "\u{1f600}",
  "+",
  " ",
];
const name = fc.oneof(
  { weight: 4, arbitrary: damaged(samples, pieces).map((bytes) => new TextDecoder().decode(bytes)) },
  {
    weight: 2,
    arbitrary: fc.array(fc.constantFrom(...pieces), { maxLength: 30 }).map((parts) => `xdstp://${parts.join("")}`),
  },
  anyText({ maxLength: 20 }),
);

export const names: FuzzTarget = {
  name: "names",
  suiteRuns: 800,
  async open() {
    const property = fc.asyncProperty(fc.tuple(name, name), async ([one, other]) => {
      const bound = 300 + (one.length + other.length) / 50;
      if ((await effortOf(() => check(one, other))) > bound) await assertEffort("it", bound, () => check(one, other));
    });
    return {
      property: property as unknown as fc.IAsyncPropertyWithHooks<[unknown]>,
      finish: async () => {},
      close: async () => {},
      show: (input) => JSON.stringify(input),
    };
  },
};

function check(one: string, other: string): void {
  const canonical = canonicalName(one);
  assert.equal(canonicalName(canonical), canonical, "canonical form has a canonical form of its own");
  assert.ok(sameName(one, canonical) && sameName(one, one));
  assert.equal(sameName(one, other), sameName(other, one));
  const parsed = parseName(one);
  if (parsed.kind === "xdstp") {
    assert.deepEqual(parseName(formatName(parsed)), parsed, "written and read again it is another name");
    assert.equal(authorityOf(one), parsed.authority);
  } else {
    assert.equal(canonical, one);
    if (parsed.kind === "malformed")
      assert.ok(parsed.problem.length > 0 && parsed.problem.length < 500, parsed.problem);
  }
  const glob = globOf(one);
  if (glob !== undefined) {
    assert.ok(isGlobName(glob) && !isGlobName(one), glob);
    assert.equal(canonicalName(glob), glob);
    assert.equal(refersTo({ type, name: glob }, type, one), true);
    assert.ok(isCollection({ type, name: glob }));
  }
  refersTo({ type, name: one }, type, other);
  assert.ok((nameProblem(one, type)?.length ?? 0) < 1_000);
}
