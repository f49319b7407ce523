import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { readJsonRequest } from "./json-request.js";

function read(json: unknown) {
  const result = readJsonRequest(json);
  assert.ok(result.kind === "request", JSON.stringify(result));
  return result.request;
}

function problem(json: unknown): string {
  const result = readJsonRequest(json);
  assert.ok(result.kind === "malformed", JSON.stringify(result));
  return result.message;
}

const snake = {
  version_info: "7",
  node: {
    id: "edge-7",
    cluster: "edge",
    metadata: { stage: "prod", deep: { list: [1, null, true] } },
    locality: { region: "eu", zone: "eu-1", sub_zone: "rack" },
    user_agent_name: "envoy",
    user_agent_build_version: { version: { major_number: 1, minor_number: 40, patch: 0 }, metadata: {} },
    extensions: [{ name: "whatever", category: "x" }],
    client_features: ["one", "two"],
  },
  resource_names: ["a", "b", "a"],
  type_url: "type.googleapis.com/envoy.config.cluster.v3.Cluster",
  response_nonce: "6",
  error_detail: { code: 3, message: "no good", details: [] },
};

const camel = {
  versionInfo: "7",
  node: {
    id: "edge-7",
    cluster: "edge",
    metadata: snake.node.metadata,
    locality: { region: "eu", zone: "eu-1", subZone: "rack" },
    userAgentName: "envoy",
    userAgentBuildVersion: { version: { majorNumber: 1, minorNumber: 40 } },
    extensions: [],
    clientFeatures: ["one", "two"],
  },
  resourceNames: ["a", "b", "a"],
  typeUrl: snake.type_url,
  responseNonce: "6",
  errorDetail: { code: "3", message: "no good" },
};

describe("a request in JSON", () => {
  it("a request in JSON is read in both spellings of its fields (rule 141)", () => {
    const expected = {
      version: "7",
      names: ["a", "b", "a"],
      typeUrl: snake.type_url,
      nonce: "6",
      error: { code: 3, message: "no good" },
      node: {
        id: "edge-7",
        cluster: "edge",
        locality: { region: "eu", zone: "eu-1", subZone: "rack" },
        metadata: { stage: "prod", deep: { list: [1, null, true] } },
        userAgentName: "envoy",
        userAgentVersion: "1.40.0",
        clientFeatures: ["one", "two"],
      },
    };
    assert.deepEqual(read(snake), expected);
    assert.deepEqual(read(camel), expected);
  });

  it("a request may leave out every field, or say null", () => {
    const nothing = { node: undefined, version: "", names: [], typeUrl: "", nonce: "", error: undefined };
    assert.deepEqual(read({}), nothing);
    const nulls = Object.fromEntries([...Object.keys(snake), ...Object.keys(camel)].map((key) => [key, null]));
    assert.deepEqual(read(nulls), nothing);
  });

  it("a request may name resources by locators, too", () => {
    assert.deepEqual(read({ resource_names: ["a"], resource_locators: [{ name: "b" }, { name: "c" }] }).names, [
      "a",
      "b",
      "c",
    ]);
  });

  it("a request may have unknown fields, and a node of v2", () => {
    const { node } = read({ node: { id: "a", build_version: "1.0", whatever: 1 }, future: {} });
    assert.equal(node?.id, "a");
  });

  it("a long error message is cut", () => {
    assert.equal(read({ error_detail: { message: "x".repeat(10_000) } }).error?.message.length, 4_097);
  });

  it("a malformed request is refused with the place of the mistake, and never with the value", () => {
    assert.equal(problem(null), "expected an object, found null");
    assert.equal(problem([]), "expected an object, found a list");
    assert.equal(problem("secret"), "expected an object, found a string");
    assert.equal(problem({ node: "secret" }), "node: expected an object, found a string");
    assert.equal(problem({ node: { id: 7 } }), "node.id: expected a string, found a number");
    assert.equal(
      problem({ node: { locality: { subZone: [] } } }),
      "node.locality.sub_zone: expected a string, found a list",
    );
    assert.equal(
      problem({ node: { clientFeatures: [true] } }),
      "node.client_features[0]: expected a string, found true or false",
    );
    assert.equal(problem({ resourceNames: "a" }), "resource_names: expected a list, found a string");
    assert.equal(problem({ resource_names: ["a", null] }), "resource_names[1]: expected a string, found null");
    assert.equal(problem({ version_info: {} }), "version_info: expected a string, found an object");
    assert.equal(
      problem({ resource_locators: [{ name: 1 }] }),
      "resource_locators[0].name: expected a string, found a number",
    );
  });

  it("a request with half a character is refused, since the wire cannot carry it", () => {
    for (const bad of ["\ud800", "a\udc00b", "\ud800\ud801x"]) {
      assert.match(problem({ resource_names: [bad] }), /^resource_names\[0\]: half a surrogate pair/);
      assert.match(problem({ node: { id: bad } }), /^node\.id: half a surrogate pair/);
    }
    assert.deepEqual(read({ resource_names: ["😀"] }).names, ["😀"]);
  });

  it("a request names variants by parameters, in any order", () => {
    const names = (params: object) => read({ resourceLocators: [{ name: "a", dynamicParameters: { params } }] }).names;
    assert.deepEqual(names({ env: "prod", zone: "1" }), names({ zone: "1", env: "prod" }));
    assert.notDeepEqual(names({ env: "prod" }), names({ env: "test" }));
    assert.deepEqual(names({}), ["a"]);
    assert.equal(
      problem({ resource_locators: [{ name: "a", dynamic_parameters: { params: { env: 1 } } }] }),
      "resource_locators[0].dynamic_parameters.params: expected a string, found a number",
    );
  });

  it("the names of a request are brought into canonical form", () => {
    const [name] = read({ resource_names: ["xdstp://a/b/c?y=2&x=1"] }).names;
    assert.equal(name, "xdstp://a/b/c?x=1&y=2");
  });

  it("properties that every object inherits are not taken for fields", () => {
    assert.deepEqual(read(JSON.parse('{"__proto__":{"versionInfo":"1"},"constructor":1}')).version, "");
  });
});
