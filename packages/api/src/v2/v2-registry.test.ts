import assert from "node:assert/strict";
import { test } from "node:test";
import {
  type DescMessage,
  fromBinary,
  fromJson,
  isFieldSet,
  type JsonObject,
  toBinary,
  toJson,
} from "@bufbuild/protobuf";
import { FieldDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import { v2NameOf } from "../messages/v2-names.js";
import { envoyRegistry } from "../registry/registry.js";
import { resourceTypes } from "../resource-types/resource-types.js";
import { createResource } from "../resources/resource.js";
import { encodedAs } from "../writing/encoded-as.js";
import { v2Registry } from "./v2-registry.js";

const v3 = envoyRegistry();
const registry = v2Registry();

function messageNamed(name: string): DescMessage {
  const message = registry.getMessage(name);
  assert.ok(message, name);
  return message;
}

test("the registry has every message that v3 inherited from v2, with the same fields", () => {
  let derived = 0;
  for (const type of v3) {
    const v2Name = type.kind === "message" ? v2NameOf(type) : undefined;
    if (type.kind !== "message" || v2Name === undefined) continue;
    const v2 = messageNamed(v2Name);
    // A package that still exists from that time has its own messages, without later parts.
    if (v3.getMessage(v2Name) !== undefined) continue;
    derived++;
    const fields = (message: DescMessage) =>
      message.fields.map((field) => `${field.number} ${field.name} ${field.fieldKind}`);
    assert.deepEqual(fields(v2), fields(type), v2Name);
    assert.deepEqual(
      v2.oneofs.map((oneof) => oneof.name),
      type.oneofs.map((oneof) => oneof.name),
    );
  }
  assert.ok(derived > 450, `only ${derived} messages`);
});

test("a message of v2 holds messages of v2 where v2 has them", () => {
  for (const type of v3) {
    const v2Name = type.kind === "message" ? v2NameOf(type) : undefined;
    if (v2Name === undefined || v3.getMessage(v2Name) !== undefined) continue;
    for (const field of messageNamed(v2Name).fields) {
      if (field.message === undefined) continue;
      assert.equal(v2NameOf(field.message), undefined, `${field} holds ${field.message.typeName}`);
    }
  }
  const cluster = messageNamed("envoy.api.v2.Cluster");
  assert.equal(cluster.field.loadAssignment?.message?.typeName, "envoy.api.v2.ClusterLoadAssignment");
  assert.equal(cluster.field.lbPolicy?.enum?.typeName, "envoy.api.v2.Cluster.LbPolicy");
});

test("the registry has every discovery service of v2, with messages of v2", () => {
  const services = resourceTypes.all.flatMap((type) => type.services.v2 ?? []);
  assert.equal(services.length, 8);
  for (const { service, stream, delta, fetch } of services) {
    const methods = registry.getService(service)?.methods ?? [];
    const expected = [stream, delta, fetch].filter((name) => name !== undefined);
    assert.deepEqual(new Set(methods.map((method) => method.name)), new Set(expected), service);
    for (const { name, input, output, methodKind } of methods) {
      const prefix = name === delta ? "envoy.api.v2.Delta" : "envoy.api.v2.";
      assert.equal(input.typeName, `${prefix}DiscoveryRequest`);
      assert.equal(output.typeName, `${prefix}DiscoveryResponse`);
      assert.equal(methodKind, name === fetch ? "unary" : "bidi_streaming");
    }
  }
  assert.ok(registry.getService("envoy.service.discovery.v2.AggregatedDiscoveryService"));
});

const json: JsonObject = {
  name: "l",
  address: { socketAddress: { address: "127.0.0.1", portValue: 80 } },
  metadata: { filterMetadata: { a: { b: 1 } } },
  filterChains: [
    {
      filters: [
        {
          name: "hcm",
          typedConfig: {
            "@type": "type.googleapis.com/envoy.config.filter.network.http_connection_manager.v2.HttpConnectionManager",
            statPrefix: "in",
            rds: { routeConfigName: "r", configSource: { ads: {} } },
            httpFilters: [
              {
                name: "router",
                typedConfig: {
                  "@type": "type.googleapis.com/envoy.config.filter.http.router.v2.Router",
                  suppressEnvoyHeaders: true,
                },
              },
            ],
          },
        },
      ],
    },
  ],
};

test("a message for a v2 client can be read and shown as v2, and it is a resource", () => {
  const schema = messageNamed("envoy.api.v2.Listener");
  const message = fromJson(schema, json, { registry });
  const resource = createResource(message);
  assert.equal(resource.type.name, "listener");
  assert.deepEqual(resource.references, [
    { type: "type.googleapis.com/envoy.config.route.v3.RouteConfiguration", name: "r" },
  ]);
  const { value } = encodedAs(resource, "v2");
  assert.deepEqual(value, toBinary(schema, message));
  assert.deepEqual(toJson(schema, fromBinary(schema, value), { registry }), json);
});

test("a scalar field of a derived message names no type, because strict descriptor readers would refuse one", () => {
  for (const file of v2Registry().files) {
    if (!file.proto.name.startsWith("xdskit/derived/")) continue;
    for (const message of file.messages) {
      for (const { proto } of message.fields) {
        assert.equal(isFieldSet(proto, FieldDescriptorProtoSchema.field.typeName), proto.typeName !== "", proto.name);
      }
    }
  }
});
