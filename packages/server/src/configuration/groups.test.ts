import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { XdskitError } from "@xdskit/api";
import type { GroupSettings } from "../settings/group-settings.js";
import { testNode } from "../testing/test-node.js";
import { createGroups } from "./groups.js";

const node = testNode({
  id: "edge-7",
  cluster: "edge-eu",
  locality: { region: "eu", zone: "eu-1", subZone: "rack-3" },
  metadata: {
    stage: "prod",
    shard: 3,
    canary: true,
    nothing: null,
    list: ["a"],
    "app.kubernetes.io/name": "web",
    "a.b": { c: "dotted" },
    a: { b: { c: "nested", d: "deep" } },
  },
});

function matches(match: GroupSettings["match"]): boolean {
  return createGroups([{ name: "g", match, layers: ["l"] }]).of(node) !== undefined;
}

describe("createGroups", () => {
  const cases: readonly [GroupSettings["match"], boolean][] = [
    [{}, true],
    [{ id: "edge-7" }, true],
    [{ id: "edge" }, false],
    [{ id: "edge-?" }, true],
    [{ cluster: "edge-*" }, true],
    [{ cluster: "edge-*", id: "core-*" }, false],
    [{ "locality.region": "eu", "locality.zone": "eu-1", "locality.sub_zone": "rack-*" }, true],
    [{ "locality.zone": "eu-2" }, false],
    [{ "metadata.stage": "prod" }, true],
    [{ "metadata.stage": "test" }, false],
    [{ "metadata.shard": 3 }, true],
    [{ "metadata.canary": true }, true],
    [{ "metadata.canary": "false" }, false],
    [{ "metadata.app.kubernetes.io/name": "web" }, true],
    [{ "metadata.a.b.c": "dotted" }, true],
    [{ "metadata.a.b.d": "deep" }, true],
    [{ "metadata.missing": "*" }, false],
    [{ "metadata.nothing": "*" }, false],
    [{ "metadata.list": "*" }, false],
    [{ "metadata.a": "*" }, false],
    [{ "metadata.constructor": "*" }, false],
    [{ "metadata.stage.toString": "*" }, false],
  ];
  for (const [match, expected] of cases) {
    it(`the match ${JSON.stringify(match)} ${expected ? "fits" : "does not fit"} the node`, () => {
      assert.equal(matches(match), expected);
    });
  }

  it("a group of a program without types is refused with what it lacks", () => {
    const faults = (group: object) => {
      try {
        createGroups([group as GroupSettings]);
        return [];
      } catch (error) {
        assert.ok(error instanceof XdskitError);
        return error.findings.map(({ field, message }) => `${field}: ${message}`);
      }
    };
    const lacking = faults({ name: "a" });
    assert.match(lacking[0] ?? "", /^groups\[0\]\.match: .*; \{\} is every node$/);
    assert.match(lacking[1] ?? "", /^groups\[0\]\.layers: .*, such as \["default"\]$/);
    assert.match(faults({ match: {}, layers: ["a"] })[0] ?? "", /^groups\[0\]\.name: a group needs a name$/);
    assert.match(
      faults({ name: "a", match: {}, layers: [1] })[0] ?? "",
      /^groups\[0\]\.layers: each is a layer's name/,
    );
    const wrongValue = faults({ name: "a", match: { id: ["edge"] }, layers: ["a"] })[0] ?? "";
    assert.match(wrongValue, /^groups\[0\]\.match: the value of "id" must be a string, a number, true or false$/);
  });

  it("groups keep their order, so that the first match wins", () => {
    const groups = createGroups([
      { name: "first", match: { cluster: "edge-*" }, layers: ["a"] },
      { name: "second", match: {}, layers: ["b"] },
    ]);
    assert.equal(groups.of(node)?.name, "first");
    assert.equal(groups.of(testNode({ cluster: "core" }))?.name, "second");
  });

  it("without settings all nodes are in one group with all layers", () => {
    const groups = createGroups(undefined);
    const { name, layers, ttl, key, ...others } = groups.of(node)!;
    assert.deepEqual({ name, layers, ttl, key }, { name: "all", layers: undefined, ttl: "auto", key: "all" });
    assert.ok(Object.values(others).every((setting) => setting === undefined));
    assert.deepEqual(groups.configured, [groups.of(testNode())]);
  });

  it("a function may choose the group", () => {
    const groups = createGroups(({ id }) => (id === "edge-7" ? { name: "mine", layers: ["l"] } : undefined));
    assert.equal(groups.of(node)?.name, "mine");
    assert.equal(groups.of(testNode()), undefined);
    assert.deepEqual(groups.configured, []);
  });

  it("an error lists all problems of the settings", () => {
    const settings: GroupSettings[] = [
      { name: "a", match: { zone: "x", metadata: "y", "metadata.": "z" }, layers: ["l"] },
      { name: "a", match: {}, layers: [] },
      { name: "", match: {}, layers: ["l", "l"] },
    ];
    assert.throws(
      () => createGroups(settings),
      (error) => {
        assert.ok(error instanceof XdskitError);
        assert.deepEqual(
          error.findings.map(({ code, field }) => `${code} ${field}`),
          [
            "XDSKIT_GROUP_INVALID groups[0].match",
            "XDSKIT_GROUP_INVALID groups[0].match",
            "XDSKIT_GROUP_INVALID groups[0].match",
            "XDSKIT_GROUP_INVALID groups[1].name",
            "XDSKIT_GROUP_INVALID groups[1].layers",
            "XDSKIT_GROUP_INVALID groups[2].name",
            "XDSKIT_GROUP_INVALID groups[2].layers",
          ],
        );
        assert.match(error.message, /unknown key "zone"/);
        return true;
      },
    );
  });
});
