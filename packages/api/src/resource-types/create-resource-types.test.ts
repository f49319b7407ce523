import assert from "node:assert/strict";
import { test } from "node:test";
import { create } from "@bufbuild/protobuf";
import { LocalitySchema, NodeSchema } from "@xdskit/api/envoy/config/core/v3/base";
import { LbEndpointSchema } from "@xdskit/api/envoy/config/endpoint/v3/endpoint_components";
import { XdskitError } from "../errors.js";
import { createResource } from "../resource.js";
import { readResources } from "../resource-file.js";
import { createResourceTypes, type OwnResourceType } from "./create-resource-types.js";
import { resourceTypes } from "./resource-types.js";

const node: OwnResourceType = { schema: NodeSchema, name: "node", abbreviation: "nds", nameOf: "id" };

test("a type of one's own stands in the table like any other", () => {
  const types = createResourceTypes([node]);
  const type = types.find("nodes");
  assert.ok(type);
  assert.equal(types.find("NDS"), type);
  assert.deepEqual(types.byTypeUrl("type.googleapis.com/envoy.config.core.v3.Node"), { type, api: "v3" });
  assert.deepEqual([...types], [...resourceTypes, type]);
  assert.equal(resourceTypes.find("node"), undefined);
  assert.deepEqual([type.emptyFirstRequest, type.fullState, type.services.v3], ["nothing", false, undefined]);
  assert.equal(createResource(create(NodeSchema, { id: "a" }), { types }).name, "a");
});

test("it is delivered after the type that it is to follow", () => {
  const after = (name: string, schema: OwnResourceType["schema"]) => ({
    schema,
    name,
    after: "cds",
    nameOf: () => "x",
  });
  const types = createResourceTypes([after("one", NodeSchema), after("two", LocalitySchema)]);
  const words = types.all.map(({ abbreviation }) => abbreviation);
  assert.deepEqual(words.slice(2, 6), ["cds", "two", "one", "eds"]);
  const orders = types.all.map(({ deliveryOrder }) => deliveryOrder);
  assert.deepEqual(
    orders,
    [...orders].sort((a, b) => a - b),
  );
  assert.equal(new Set(orders).size, orders.length);
});

test("files may hold it", () => {
  const types = createResourceTypes([node]);
  const text = '"@type": type.googleapis.com/envoy.config.core.v3.Node\nid: a\n';
  const { resources, findings } = readResources({ path: "a.yaml", bytes: new TextEncoder().encode(text) }, { types });
  assert.deepEqual(findings, []);
  assert.deepEqual(
    resources.map(({ resource }) => [resource.type.name, resource.name]),
    [["node", "a"]],
  );
});

test("all that is wrong with definitions is told", () => {
  const wrong: readonly OwnResourceType[] = [
    { schema: LbEndpointSchema, name: "cluster" },
    { ...node, name: "", abbreviation: "EDS" },
    { ...node, nameOf: "nom", after: "nobody" },
    { ...node, nameOf: "metadata" },
    node,
    node,
  ];
  assert.throws(
    () => createResourceTypes(wrong),
    (error) => {
      assert.ok(error instanceof XdskitError);
      assert.deepEqual(
        error.findings.map(({ code, message }) => [code, message]),
        [
          "resources of type type.googleapis.com/envoy.config.endpoint.v3.LbEndpoint are known already",
          'there is already a type called "cluster"',
          "a type needs a name",
          'there is already a type called "EDS"',
          'the message has no field "nom" of type string to hold the name',
          'it is to come after "nobody", and there is no such type',
          'the message has no field "metadata" of type string to hold the name',
          "resources of type type.googleapis.com/envoy.config.core.v3.Node are known already",
          'there is already a type called "node"',
          'there is already a type called "nds"',
        ].map((message) => ["XDSKIT_TYPE_DEFINITION", message]),
      );
      return true;
    },
  );
});
