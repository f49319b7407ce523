import assert from "node:assert/strict";
import { test } from "node:test";
import { create, toBinary } from "@bufbuild/protobuf";
import {
  FieldDescriptorProto_Label,
  FieldDescriptorProto_Type,
  FileDescriptorProtoSchema,
  FileDescriptorSetSchema,
} from "@bufbuild/protobuf/wkt";
import { LocalitySchema, NodeSchema } from "@xdskit/api/envoy/config/core/v3/base";
import { LbEndpointSchema } from "@xdskit/api/envoy/config/endpoint/v3/endpoint_components";
import { XdskitError } from "../errors/errors.js";
import { readResources } from "../files/resource-file.js";
import { createRegistry, envoyRegistry } from "../registry/registry.js";
import { createResource } from "../resources/resource.js";
import { createResourceTypes, type OwnResourceType } from "./create-resource-types.js";
import { typesOfMessages } from "./message-types.js";
import { nameless } from "./own-names.js";
import { packTypes, unpackTypes } from "./packed-types.js";
import { resourceTypes } from "./resource-types.js";

const node: OwnResourceType = { schema: NodeSchema, name: "node", abbreviation: "nds", nameOf: "id" };

test("a user's own type stands in the table like any other", () => {
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

test("a user's own type is delivered after the type that it must follow", () => {
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

test("files may hold a user's own type", () => {
  const types = createResourceTypes([node]);
  const text = '"@type": type.googleapis.com/envoy.config.core.v3.Node\nid: a\n';
  const { resources, findings } = readResources({ path: "a.yaml", bytes: new TextEncoder().encode(text) }, { types });
  assert.deepEqual(findings, []);
  assert.deepEqual(
    resources.map(({ resource }) => [resource.type.name, resource.name]),
    [["node", "a"]],
  );
});

test("every mistake in a definition is told", () => {
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
          "resources of type type.googleapis.com/envoy.config.endpoint.v3.LbEndpoint are already known",
          'there is already a type called "cluster"',
          "a type needs a name",
          'there is already a type called "EDS"',
          'the message has no field "nom" of type string to hold the name',
          'it must come after "nobody", but there is no such type',
          'the message has no field "metadata" of type string to hold the name',
          "resources of type type.googleapis.com/envoy.config.core.v3.Node are already known",
          'there is already a type called "node"',
          'there is already a type called "nds"',
        ].map((message) => ["XDSKIT_TYPE_DEFINITION", message]),
      );
      return true;
    },
  );
});

test("a type reaches another thread complete, except for a program's own functions", () => {
  assert.equal(packTypes(resourceTypes), undefined);
  assert.equal(unpackTypes(undefined), resourceTypes);
  const types = createResourceTypes([node, { schema: LocalitySchema, name: "place", wildcard: true, after: "cds" }]);
  const packed = structuredClone(packTypes(types)) ?? assert.fail();
  assert.equal(packed.isWhole, true);
  const again = unpackTypes(packed);
  assert.deepEqual(
    again.all.map(({ name, deliveryOrder }) => [name, deliveryOrder]),
    types.all.map(({ name, deliveryOrder }) => [name, deliveryOrder]),
  );
  assert.equal(again.find("cluster"), resourceTypes.find("cluster"));
  const message = create(NodeSchema, { id: "a" });
  assert.equal(createResource(message, { types: again }).version, createResource(message, { types }).version);
  assert.equal(again.find("place")?.nameOf, nameless);
  assert.equal(packTypes(createResourceTypes([{ ...node, nameOf: () => "x" }]))?.isWhole, false);
});

test("every message of a descriptor set is a type by its full name, and a definition of one counts", () => {
  assert.equal(typesOfMessages(envoyRegistry()), resourceTypes);
  const label = FieldDescriptorProto_Label.OPTIONAL;
  const type = FieldDescriptorProto_Type.STRING;
  const file = create(FileDescriptorProtoSchema, {
    name: "own.proto",
    package: "own",
    syntax: "proto3",
    messageType: [
      {
        name: "Named",
        field: [{ name: "name", jsonName: "name", number: 1, label, type }],
        nestedType: [{ name: "In" }],
      },
      { name: "Bare" },
    ],
  });
  const set = toBinary(FileDescriptorSetSchema, create(FileDescriptorSetSchema, { file: [file] }));
  const registry = createRegistry({ descriptorSets: [set] });
  const types = typesOfMessages(registry);
  assert.deepEqual(
    types.all.slice(resourceTypes.all.length).map(({ name, nameField, emptyFirstRequest, fullState }) => {
      return [name, nameField, emptyFirstRequest, fullState];
    }),
    [
      ["own.Named", "name", "wildcard", true],
      ["own.Bare", undefined, "wildcard", true],
    ],
  );
  assert.equal(types.find("own.bare"), types.find("type.googleapis.com/own.Bare"));
  const schema = registry.getMessage("own.Bare") ?? assert.fail();
  const said = typesOfMessages(registry, [{ schema, name: "bare", after: "cluster" }]);
  assert.deepEqual(
    said.all.filter((each) => resourceTypes.byTypeUrl(each.typeUrl) === undefined).map(({ name }) => name),
    ["bare", "own.Named"],
  );
});
