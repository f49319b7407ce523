import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { NodeMatcherSchema } from "@xdskit/api/envoy/type/matcher/v3/node";
import type { StringMatcherSchema } from "@xdskit/api/envoy/type/matcher/v3/string";
import type { ValueMatcherSchema } from "@xdskit/api/envoy/type/matcher/v3/value";
import type { Node } from "@xdskit/protocol";
import { createNodeMatch } from "./node-matcher.js";

type Matcher = MessageInitShape<typeof NodeMatcherSchema>;
type Pattern = MessageInitShape<typeof StringMatcherSchema>["matchPattern"];
type Value = NonNullable<MessageInitShape<typeof ValueMatcherSchema>["matchPattern"]>;

function node(id: string, metadata: Node["metadata"] = {}): Node {
  const locality = { region: "", zone: "", subZone: "" };
  return { id, metadata, locality, cluster: "", userAgentName: "", userAgentVersion: "", clientFeatures: [] };
}

const ids = ["edge-1", "edge-2", "Edge-3", "inner-1"].map((id) => node(id));
const matched = (...matchers: readonly Matcher[]) => {
  const matches = createNodeMatch(matchers.map((matcher) => create(NodeMatcherSchema, matcher)));
  return ids.filter(matches).map(({ id }) => id);
};
const byId = (matchPattern: NonNullable<Pattern>, ignoreCase = false): Matcher => ({
  nodeId: { matchPattern, ignoreCase },
});
const regex = (expression: string) => byId({ case: "safeRegex", value: { regex: expression } });

describe("node matchers", () => {
  it("a request without matchers matches every node", () => assert.equal(matched().length, 4));

  it("a matcher matches ids in each of the ways", () => {
    assert.deepEqual(matched(byId({ case: "exact", value: "edge-1" })), ["edge-1"]);
    assert.deepEqual(matched(byId({ case: "prefix", value: "edge-" })), ["edge-1", "edge-2"]);
    assert.deepEqual(matched(byId({ case: "prefix", value: "edge-" }, true)), ["edge-1", "edge-2", "Edge-3"]);
    assert.deepEqual(matched(byId({ case: "suffix", value: "-1" })), ["edge-1", "inner-1"]);
    assert.deepEqual(matched(byId({ case: "contains", value: "NER" }, true)), ["inner-1"]);
    // The whole id, not a part of it.
    assert.deepEqual(matched(regex("edge-[0-9]")), ["edge-1", "edge-2"]);
    assert.deepEqual(matched(regex("edge")), []);
  });

  it("a text above the limit never matches", () => {
    const long = node("x".repeat(5_000));
    for (const matcher of [byId({ case: "prefix", value: "x" }), regex("x*")]) {
      assert.equal(createNodeMatch([create(NodeMatcherSchema, matcher)])(long), false);
    }
  });

  it("one matcher of several is enough", () => {
    const both = [byId({ case: "exact", value: "edge-2" }), byId({ case: "exact", value: "inner-1" })];
    assert.deepEqual(matched(...both), ["edge-2", "inner-1"]);
  });

  it("a matcher matches metadata if each of its conditions and the id do", () => {
    const app = node("a", { app: { name: "web", ports: [80, 443], canary: true, weight: 2.5, owner: null } });
    const holds = (path: string, value: Value, id?: Pattern) => {
      const nodeMetadatas = [
        {
          path: path.split(".").map((key) => ({ segment: { case: "key", value: key } as const })),
          value: { matchPattern: value },
        },
      ];
      const matcher = { nodeMetadatas, ...(id === undefined ? {} : { nodeId: { matchPattern: id } }) };
      return createNodeMatch([create(NodeMatcherSchema, matcher)])(app);
    };
    const text = (value: string): Value => ({
      case: "stringMatch",
      value: { matchPattern: { case: "exact", value } },
    });
    const number = (value: number): Value => ({
      case: "doubleMatch",
      value: { matchPattern: { case: "exact", value } },
    });
    assert.ok(holds("app.name", text("web")));
    assert.ok(!holds("app.name", text("web"), { case: "exact", value: "b" }));
    assert.ok(!holds("app.name.inner", text("web")) && !holds("app.constructor", text("web")));
    assert.ok(holds("app.canary", { case: "boolMatch", value: true }));
    assert.ok(
      holds("app.weight", {
        case: "doubleMatch",
        value: { matchPattern: { case: "range", value: { start: 2.5, end: 3 } } },
      }),
    );
    assert.ok(
      !holds("app.weight", {
        case: "doubleMatch",
        value: { matchPattern: { case: "range", value: { start: 2, end: 2.5 } } },
      }),
    );
    assert.ok(
      holds("app.owner", { case: "nullMatch", value: {} }) && !holds("app.name", { case: "nullMatch", value: {} }),
    );
    const oneOf = (value: Value): Value => ({
      case: "listMatch",
      value: { matchPattern: { case: "oneOf", value: { matchPattern: value } } },
    });
    assert.ok(holds("app.ports", oneOf(number(443))) && !holds("app.ports", oneOf(number(444))));
    assert.ok(
      holds("app.name", { case: "presentMatch", value: true }) &&
        !holds("app.x", { case: "presentMatch", value: true }),
    );
    assert.ok(
      holds("app.x", { case: "presentMatch", value: false }) && !holds("app", { case: "presentMatch", value: true }),
    );
    const or: Value = {
      case: "orMatch",
      value: { valueMatchers: [text("a"), text("web")].map((matchPattern) => ({ matchPattern })) },
    };
    assert.ok(holds("app.name", or));
  });

  it("a matcher that cannot be matched, or would cost too much, is refused", () => {
    assert.throws(() => matched(regex("(")), /RE2/);
    assert.throws(() => matched(regex("(a{1,100}){1,100}")), /too large/);
    assert.throws(() => matched({ nodeId: {} }), /without a pattern/);
    assert.throws(() => matched({ nodeMetadatas: [{}] }), /path/);
    const custom = byId({ case: "custom", value: { name: "own" } });
    assert.throws(() => matched(custom), /custom/);
    assert.throws(
      () => matched(...Array.from({ length: 101 }, () => byId({ case: "exact", value: "a" }))),
      /more than 100/,
    );
    assert.throws(() => matched(...Array.from({ length: 6 }, () => regex("a"))), /more than 5 regular/);
    const keys = Array.from({ length: 101 }, () => ({ segment: { case: "key", value: "a" } as const }));
    const present = { matchPattern: { case: "presentMatch", value: true } } as const;
    assert.throws(() => matched({ nodeMetadatas: [{ path: keys, value: present }] }), /more than 100/);
    let nested: Value = { case: "boolMatch", value: true };
    for (let depth = 0; depth < 20; depth++)
      nested = { case: "orMatch", value: { valueMatchers: [{ matchPattern: nested }] } };
    const path = [{ segment: { case: "key", value: "a" } as const }];
    assert.throws(() => matched({ nodeMetadatas: [{ path, value: { matchPattern: nested } }] }), /too deep/);
  });
});
