import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { resourceTypes } from "@xdskit/api";
import { locatorOf } from "../../model/names/locator.js";
import { edit, type SampleGroup, typeOf } from "../../testing/sample-world.js";
import { isSetVersion, mayDiffer, type Selection, select, selectionOf } from "./selection.js";

const endpoint = typeOf("endpoint");

function group(before: SampleGroup | undefined, contents: Readonly<Record<string, string | undefined>>): SampleGroup {
  const edits = Object.entries(contents).map(([name, content]) => ({ type: "endpoint", name, content }));
  return edit(before, edits);
}

function selectFrom({ snapshot }: SampleGroup, ...names: string[]): Selection {
  return select(snapshot.of(endpoint), selectionOf(names, endpoint));
}

function namesOf({ resources }: Selection): readonly string[] {
  return Array.from(resources, ({ name }) => name).sort();
}

describe("a selection", () => {
  it("a selection holds each named resource once, and leaves out names that do not exist", () => {
    const selection = selectFrom(group(undefined, { a: "1", b: "1", c: "1" }), "a", "c", "a", "missing");
    assert.deepEqual(namesOf(selection), ["a", "c"]);
    assert.equal(selection.size, 2);
  });

  it("a selection's version changes with each change of its resources, and with no other", () => {
    const first = group(undefined, { a: "1", b: "1" });
    const others = group(first, { b: "2", c: "1" });
    const changed = group(others, { a: "2" });
    const gone = group(changed, { a: undefined });
    const back = group(gone, { a: "1" });
    const [one, same, two, none, again] = [first, others, changed, gone, back].map((each) =>
      selectFrom(each, "a", "x"),
    );
    assert.equal(same?.version, one?.version);
    assert.equal(again?.version, one?.version);
    assert.equal(new Set([one, two, none].map((each) => each?.version)).size, 3);
    for (const { version } of [one!, none!]) assert.ok(isSetVersion(version), version);
  });

  it("a selection's version is the same for other names that find the same resources", () => {
    const one = group(undefined, { a: "1", b: "1" });
    assert.equal(selectFrom(one, "b", "a").version, selectFrom(one, "a", "b", "missing").version);
    assert.notEqual(selectFrom(one, "a").version, selectFrom(one, "a", "b").version);
  });

  it("a selection of everything has the set's own version, also when it is made by names", () => {
    const one = group(undefined, { a: "1", b: "1" });
    const { version } = one.snapshot.of(endpoint);
    assert.equal(selectFrom(one, "*").version, version);
    assert.equal(selectFrom(one, "a", "*").version, version);
    assert.equal(selectFrom(one, "a", "b").version, version);
  });

  it("a selection by an alias holds the resource that has the alias", () => {
    const virtualHost = typeOf("virtual-host");
    const { snapshot } = edit(undefined, [{ type: "virtual-host", name: "r/a", content: "1@r/alias" }]);
    const selection = select(snapshot.of(virtualHost), selectionOf(["r/alias", "r/a"], virtualHost));
    assert.deepEqual(namesOf(selection), ["r/a"]);
  });

  it("a selection holds the variant of a name that fits the given parameters", () => {
    const varied = group(undefined, { "a{env=prod}": "1", "a{!env}": "2", b: "1" });
    const contents = (...names: string[]) => {
      const { resources, version } = selectFrom(varied, ...names);
      return { keys: Array.from(resources, ({ key }) => key), version };
    };
    const prod = contents(locatorOf("a", new Map([["env", "prod"]])));
    const plain = contents("a");
    assert.equal(prod.keys.length, 1);
    assert.equal(plain.keys.length, 1);
    assert.notDeepEqual(prod, plain);
    // No name comes twice: a client would refuse that.
    assert.deepEqual(contents("*").keys.sort(), [...plain.keys, "b"].sort());
    const changed = group(varied, { "a{env=prod}": "3" });
    assert.equal(selectFrom(changed, "a").version, plain.version);
    assert.equal(
      mayDiffer(selectionOf(["a"], endpoint), varied.snapshot.of(endpoint), changed.snapshot.of(endpoint)),
      true,
    );
  });

  it("a selection is computed once for all requests for the same", () => {
    const one = group(undefined, { a: "1", b: "1" });
    assert.equal(selectFrom(one, "a", "b"), selectFrom(one, "b", "a"));
  });
});

describe("a request without names", () => {
  it("a request without names asks for everything of wildcard types, and for nothing of others", () => {
    for (const type of resourceTypes) {
      const { wildcard, names } = selectionOf([], type);
      assert.equal(names.size, 0);
      assert.equal(wildcard, ["cds", "lds", "srds"].includes(type.abbreviation), type.name);
    }
  });
});

describe("mayDiffer", () => {
  const names = ["a", "b", "c", "d", "e", "f"];
  const before = group(undefined, Object.fromEntries(names.map((name) => [name, "1"])));
  const asks = (...list: string[]) => selectionOf(list, endpoint);
  const sets = (after: SampleGroup) => [before.snapshot.of(endpoint), after.snapshot.of(endpoint)] as const;

  it("the result is false if the change does not concern the selection", () => {
    assert.equal(mayDiffer(asks("a", "b", "c", "d"), ...sets(group(before, { e: "2" }))), false);
    assert.equal(mayDiffer(asks("a", "b", "c", "d"), ...sets(before)), false);
  });

  it("the result is true if the change concerns the selection", () => {
    assert.equal(mayDiffer(asks("a", "b", "c", "d"), ...sets(group(before, { d: "2" }))), true);
    assert.equal(mayDiffer(asks("a", "b", "c", "x"), ...sets(group(before, { x: "1" }))), true);
    assert.equal(mayDiffer(asks("*"), ...sets(group(before, { d: "2" }))), true);
  });
});

it("a version that a client made up belongs to no set", () => {
  for (const version of ["", "1", "unknown", "0123456789ABCDEF", "0123456789abcdef0"])
    assert.ok(!isSetVersion(version));
});
