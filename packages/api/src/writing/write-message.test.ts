import assert from "node:assert/strict";
import { suite, test } from "node:test";
import {
  create,
  type DescField,
  type DescMessage,
  equals,
  fromBinary,
  fromJson,
  type JsonObject,
  type Message,
  ScalarType,
} from "@bufbuild/protobuf";
import { anyPack } from "@bufbuild/protobuf/wkt";
import fc from "fast-check";
import { readResources } from "../files/resource-file.js";
import { envoyRegistry } from "../registry/registry.js";
import { createResource } from "../resources/resource.js";
import { anyText } from "../testing/any-text.js";
import { times } from "../testing/effort.js";
import { type MessageFormat, writeMessage, writeResources } from "./write-message.js";

const registry = envoyRegistry();
const formats = { json: "json", yaml: "yaml", text: "pb_text", binary: "pb" } as const;

function schemaOf(typeName: string): DescMessage {
  const schema = registry.getMessage(typeName);
  assert.ok(schema, typeName);
  return schema;
}

function bytesOf(written: string | Uint8Array): Uint8Array {
  return typeof written === "string" ? new TextEncoder().encode(written) : written;
}

const strings = fc.oneof(
  fc.string({ maxLength: 6 }),
  anyText({ maxLength: 4 }),
  fc.constantFrom("yes", "null", "~", "1e3", "- a", "a: b", "\n a\n", "#", "<<", "0x1"),
);

/** Values of a scalar. Floats keep their value in 32 bits. */
function scalars(type: ScalarType): fc.Arbitrary<unknown> {
  switch (type) {
    case ScalarType.STRING:
      return strings;
    case ScalarType.BYTES:
      return fc.uint8Array({ maxLength: 5 });
    case ScalarType.BOOL:
      return fc.boolean();
    case ScalarType.DOUBLE:
      return fc.double();
    case ScalarType.FLOAT:
      return fc.float();
    case ScalarType.UINT64:
    case ScalarType.FIXED64:
      return fc.bigInt(0n, (1n << 64n) - 1n);
    case ScalarType.INT64:
    case ScalarType.SINT64:
    case ScalarType.SFIXED64:
      return fc.bigInt(-(1n << 63n), (1n << 63n) - 1n);
    case ScalarType.UINT32:
    case ScalarType.FIXED32:
      return fc.nat(0xffffffff);
    default:
      return fc.integer();
  }
}

const json = fc
  .dictionary(strings, fc.jsonValue({ maxDepth: 2 }) as fc.Arbitrary<never>, { maxKeys: 3 })
  .map((value) => JSON.parse(JSON.stringify(value)));

/** Random messages of any schema; null at a certain depth. */
function messages(schema: DescMessage, depth: number): fc.Arbitrary<Message> {
  if (schema.typeName === "google.protobuf.Any") {
    const content = schemaOf("envoy.config.core.v3.SocketAddress");
    return messages(content, depth).map((message) => anyPack(content, message));
  }
  if (schema.typeName === "google.protobuf.Duration" || schema.typeName === "google.protobuf.Timestamp") {
    return fc
      .record({ seconds: fc.bigInt(0n, 9_999_999_999n), nanos: fc.nat(999_999_999) })
      .map((value) => create(schema, value as Record<string, unknown>));
  }
  const fields = schema.fields.filter(
    (field) =>
      field.message === undefined || (depth > 0 && !field.message.file.name.startsWith("google/protobuf/descriptor")),
  );
  const chosen = fc.subarray(fields, { maxLength: Math.min(4, fields.length) });
  return chosen.chain((some) => {
    const members = some.filter(
      (field, index) => field.oneof === undefined || some.findIndex(({ oneof }) => oneof === field.oneof) === index,
    );
    return fc.tuple(...members.map((field) => values(field, depth))).map((given) => {
      const init: Record<string, unknown> = {};
      for (const [index, field] of members.entries()) {
        if (field.oneof === undefined) init[field.localName] = given[index];
        else init[field.oneof.localName] = { case: field.localName, value: given[index] };
      }
      return create(schema, init);
    });
  });
}

function values(field: DescField, depth: number): fc.Arbitrary<unknown> {
  const one = (): fc.Arbitrary<unknown> => {
    if (field.message?.typeName === "google.protobuf.Struct") return json;
    if (field.message !== undefined) {
      const isWrapper =
        field.fieldKind === "message" &&
        field.oneof === undefined &&
        /^google\.protobuf\.\w+Value$/.test(field.message.typeName);
      const inner = field.message.fields[0];
      return isWrapper && inner?.scalar !== undefined ? scalars(inner.scalar) : messages(field.message, depth - 1);
    }
    if (field.enum !== undefined) return fc.constantFrom(...field.enum.values.map(({ number }) => number));
    return scalars(field.scalar as ScalarType);
  };
  if (field.fieldKind === "list") return fc.array(one(), { maxLength: 2 });
  if (field.fieldKind !== "map") return one();
  const keys = field.mapKey === ScalarType.STRING ? strings : fc.nat(9).map(String);
  return fc.dictionary(keys, one(), { maxKeys: 2 });
}

/** Types whose random messages are resources once they are named. */
const types = [
  ["envoy.config.cluster.v3.Cluster", "name"],
  ["envoy.config.route.v3.RouteConfiguration", "name"],
  ["envoy.config.endpoint.v3.ClusterLoadAssignment", "clusterName"],
  ["envoy.config.listener.v3.Listener", "name"],
] as const;

suite("a written file", () => {
  for (const [typeName, nameField] of types) {
    test(`a written file is read again as the same resource (${typeName})`, () => {
      const schema = schemaOf(typeName);
      fc.assert(
        fc.property(messages(schema, 3), (random) => {
          const message = { ...random, [nameField]: "a" } as Message;
          const resource = createResource(message);
          for (const format of Object.keys(formats) as MessageFormat[]) {
            const bytes = bytesOf(writeResources([resource], format));
            const { resources, findings } = readResources({ path: `a.${formats[format]}`, bytes }, { validate: false });
            assert.deepEqual(findings, [], format);
            assert.equal(resources.length, 1);
            const body = resources[0]?.resource.body ?? new Uint8Array();
            assert.ok(equals(schema, fromBinary(schema, body), fromBinary(schema, resource.body)), format);
          }
        }),
        { numRuns: times(20) },
      );
    });
  }

  test("a written file keeps the sign of a zero, in every format", () => {
    const schema = schemaOf("envoy.config.cluster.v3.Cluster");
    const message = fromJson(schema, {
      name: "a",
      preconnectPolicy: { perUpstreamPreconnectRatio: -0 },
      metadata: { filterMetadata: { a: { zero: -0, list: [0, -0], text: "-0" } } },
    });
    for (const format of Object.keys(formats) as MessageFormat[]) {
      const bytes = bytesOf(writeResources([createResource(message)], format));
      const { resources } = readResources({ path: `a.${formats[format]}`, bytes }, { validate: false });
      const body = resources[0]?.resource.body ?? new Uint8Array();
      assert.ok(equals(schema, fromBinary(schema, body), message), format);
    }
  });

  test("a written file keeps names, aliases and TTLs of wrapped resources, in every format", () => {
    const host = create(schemaOf("envoy.config.route.v3.VirtualHost"), { name: "h", domains: ["*"] } as Record<
      string,
      unknown
    >);
    const wrapped = createResource(host, { name: "r/h", aliases: ["x", "y"], ttl: 1500.25 });
    const bare = createResource(
      create(schemaOf("envoy.config.cluster.v3.Cluster"), { name: "web" } as Record<string, unknown>),
    );
    for (const format of Object.keys(formats) as MessageFormat[]) {
      const bytes = bytesOf(writeResources([wrapped, bare], format, { version: "7" }));
      const { resources } = readResources({ path: `a.${formats[format]}`, bytes });
      assert.deepEqual(
        resources.map(({ resource }) => resource),
        [wrapped, bare],
        format,
      );
    }
  });
});

suite("a form of file", () => {
  const cluster = create(schemaOf("envoy.config.cluster.v3.Cluster"), { name: "yes", lbPolicy: 3 } as Record<
    string,
    unknown
  >);
  test("a form of file has its own spelling: @type and camelCase in JSON, that of Envoy's documentation in YAML", () => {
    assert.equal(
      writeMessage(cluster, "json"),
      '{"@type":"type.googleapis.com/envoy.config.cluster.v3.Cluster","name":"yes","lbPolicy":"RANDOM"}',
    );
    assert.equal(
      writeMessage(cluster, "json", { withType: false, fieldNames: "proto", indent: 1 }),
      '{\n "name": "yes",\n "lb_policy": "RANDOM"\n}',
    );
    assert.equal(
      writeMessage(cluster, "yaml"),
      '"@type": type.googleapis.com/envoy.config.cluster.v3.Cluster\nname: "yes"\nlb_policy: RANDOM\n',
    );
    assert.equal(writeMessage(cluster, "text"), 'name: "yes"\nlb_policy: RANDOM\n');
  });
  test("a form of file has quotes in YAML around texts and keys that Envoy would misread", () => {
    const texts = [
      "yes",
      "N",
      "On",
      "0644",
      "08",
      "0x1f",
      "-0x1F",
      "0X1F",
      "+0Xa",
      "1.10",
      "1e3",
      ".5",
      "12",
      "~",
      "!ignore",
    ];
    const schema = schemaOf("envoy.config.cluster.v3.Cluster");
    for (const text of [...texts, "null", "TRUE", "<<", "2026-01-01", "1_000", ".inf", "0o17", "NaN", "-0"]) {
      const value: JsonObject = {
        name: text,
        metadata: { filter_metadata: { [text]: { [text]: [text, -0, 1.5, 1e300] } } },
      };
      const message = fromJson(schema, value);
      const yaml = writeMessage(message, "yaml");
      const { resources, findings } = readResources({ path: "a.yaml", bytes: bytesOf(yaml) });
      assert.deepEqual(findings, []);
      assert.deepEqual(resources[0]?.resource, createResource(message), yaml);
      assert.doesNotMatch(yaml, /^name: [-+]?0x/im);
    }
  });
  test("a form of file passes an Any of an unknown type through", () => {
    const any = {
      $typeName: "google.protobuf.Any",
      typeUrl: "type.googleapis.com/acme.Own",
      value: Uint8Array.of(8, 1),
    };
    const config = create(schemaOf("envoy.config.core.v3.TypedExtensionConfig"), {
      name: "a",
      typedConfig: any,
    } as Record<string, unknown>);
    for (const format of ["binary", "text", "json", "yaml"] as const) {
      const { resources } = readResources({
        path: `a.${formats[format]}`,
        bytes: bytesOf(writeResources([createResource(config)], format)),
      });
      assert.deepEqual(resources[0]?.resource, createResource(config));
    }
    assert.match(writeMessage(config, "json"), /"@typeUrl":"type.googleapis.com\/acme.Own","@value":"CAE="/);
  });
});
