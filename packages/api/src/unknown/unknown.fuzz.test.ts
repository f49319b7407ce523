import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { create, type DescMessage, fromBinary, type Message, toBinary } from "@bufbuild/protobuf";
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { type Any, AnySchema, anyPack } from "@bufbuild/protobuf/wkt";
import fc from "fast-check";
import { createUnpack } from "../any.js";
import { readJsonResponse } from "../json-response.js";
import { readableJson } from "../readable-json.js";
import { envoyRegistry } from "../registry.js";
import { createResource, type Resource } from "../resource.js";
import { readResources } from "../resource-file.js";
import { createResourceJson } from "../resource-json.js";
import { type MessageFormat, writeResources } from "../write-message.js";
import { childrenOf, messageFields } from "./unknown-fields.js";

const registry = envoyRegistry();
const formats = { json: "json", yaml: "yaml", text: "pb_text", binary: "pb" } as const;

function schemaOf(typeName: string): DescMessage {
  return registry.getMessage(typeName) ?? assert.fail(typeName);
}

/** One field that no message of Envoy has, or groups and long numbers as well. */
const unknownField = fc.record({
  no: fc.constantFrom(99_001, 99_002, 536_870_911),
  kind: fc.nat(4),
  bytes: fc.uint8Array({ maxLength: 6 }),
});

function withUnknown(message: Message, fields: readonly { no: number; kind: number; bytes: Uint8Array }[]): void {
  message.$unknown = fields.map(({ no, kind, bytes }) => {
    const writer = new BinaryWriter();
    const forms: readonly [WireType, () => BinaryWriter][] = [
      [WireType.Varint, () => writer.uint64(BigInt(bytes.length) << 57n)],
      [WireType.Bit32, () => writer.fixed32(bytes.length)],
      [WireType.Bit64, () => writer.fixed64(BigInt(bytes.length))],
      [WireType.LengthDelimited, () => writer.bytes(bytes)],
      [WireType.StartGroup, () => writer.tag(5, WireType.Varint).uint32(7).tag(no, WireType.EndGroup)],
    ];
    const [wireType, write] = forms[kind] ?? assert.fail();
    return { no, wireType, data: write().finish() };
  });
}

/** All messages in a message, those in `Any`s too once they are packed again. */
function visit(schema: DescMessage, message: Message, change: (schema: DescMessage, message: Message) => void): void {
  for (const field of messageFields(schema)) {
    for (const { message: child } of childrenOf(message, field)) visit(field.message, child, change);
  }
  if (schema.typeName === AnySchema.typeName) {
    const any = message as Any;
    const content = createUnpack(registry)(any);
    if (content !== undefined) {
      visit(content.schema, content.message, change);
      any.value = toBinary(content.schema, content.message);
    }
  }
  change(schema, message);
}

const any = (typeName: string, json: object): Any => {
  const schema = schemaOf(typeName);
  return anyPack(schema, create(schema, json as Record<string, unknown>));
};

/** Resources with messages in lists, maps and oneofs, `Any`s in `Any`s, and messages of other forms in JSON. */
function samples(): readonly Message[] {
  const hcm = "envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager";
  const router = any("envoy.extensions.filters.http.router.v3.Router", { suppressEnvoyHeaders: true });
  const duration = any("google.protobuf.Duration", { seconds: 3n });
  const manager = any(hcm, {
    statPrefix: "in",
    httpFilters: [{ name: "router", configType: { case: "typedConfig", value: router } }],
    routeSpecifier: { case: "rds", value: { routeConfigName: "r" } },
    streamIdleTimeout: { seconds: 1n },
  });
  const listener = create(schemaOf("envoy.config.listener.v3.Listener"), {
    name: "l",
    filterChains: [{ filters: [{ name: "hcm", configType: { case: "typedConfig", value: manager } }] }, { name: "b" }],
    metadata: { typedFilterMetadata: { b: anyPack(AnySchema, router), a: duration } },
  } as Record<string, unknown>);
  const cluster = create(schemaOf("envoy.config.cluster.v3.Cluster"), {
    name: "c",
    connectTimeout: { seconds: 2n },
    circuitBreakers: { thresholds: [{ maxRequests: 3 }, {}] },
    typedExtensionProtocolOptions: {
      own: create(AnySchema, { typeUrl: "type.googleapis.com/own.Filter", value: Uint8Array.of(8, 1) }),
      broken: create(AnySchema, {
        typeUrl: "type.googleapis.com/envoy.config.core.v3.Node",
        value: Uint8Array.of(255),
      }),
      router,
    },
    metadata: { filterMetadata: { x: { "@unknown": "CAE=", "@value": "1" } } },
    dnsLookupFamily: 77,
  } as Record<string, unknown>);
  return [listener, cluster];
}

/** What is read of a file that holds a resource. */
function readBack(written: string | Uint8Array, form: MessageFormat): readonly Resource[] {
  const bytes = typeof written === "string" ? Buffer.from(written) : written;
  const { resources, findings } = readResources({ path: `a.${formats[form]}`, bytes }, { validate: false });
  assert.deepEqual(findings, [], `${form}: ${typeof written === "string" ? written : ""}`);
  return resources.map(({ resource }) => resource);
}

function bytesOf(resource: Resource | undefined): string {
  return Buffer.from(resource?.body ?? []).toString("hex");
}

/** A sample with unknown fields in some of its messages. */
const resources = fc
  .tuple(fc.nat(1), fc.infiniteStream(fc.option(fc.array(unknownField, { minLength: 1, maxLength: 3 }), { freq: 2 })))
  .map(([which, fields]) => {
    const message = samples()[which] ?? assert.fail();
    visit(schemaOf(message.$typeName), message, (_, inner) => {
      const { value } = fields.next();
      if (value !== null && value !== undefined) withUnknown(inner, value);
    });
    return createResource(message);
  });

suite("a resource with unknown fields at any depth", () => {
  test("comes back to the byte out of every form of a file", () => {
    fc.assert(
      fc.property(resources, (resource) => {
        for (const format of Object.keys(formats) as MessageFormat[]) {
          const kept: string[] = [];
          const written = writeResources([resource], format, {
            kept: (all) => kept.push(...all.map(({ what }) => what)),
          });
          const [back] = readBack(written, format);
          assert.equal(bytesOf(back), bytesOf(resource), format);
          assert.equal(back?.version, resource.version, format);
        }
      }),
      { numRuns: 150 },
    );
  });

  test("comes back to the byte out of a REST answer, if it can be said there", () => {
    let said = 0;
    fc.assert(
      fc.property(resources, (resource) => {
        let text: string;
        try {
          text = Buffer.from(createResourceJson()(resource, "v3")).toString();
        } catch {
          return;
        }
        said += 1;
        const body = Buffer.from(`{"versionInfo":"1","resources":[${text}]}`);
        const read = readJsonResponse(body, { type: resource.type });
        assert.ok(read.kind === "response", JSON.stringify(read));
        assert.deepEqual(read.unread, []);
        const response = fromBinary(schemaOf("envoy.service.discovery.v3.DiscoveryResponse"), read.toBinary());
        const [any] = (response as Message & { resources: Any[] }).resources;
        assert.equal(Buffer.from(any?.value ?? []).toString("hex"), bytesOf(resource));
      }),
      { numRuns: 100 },
    );
    assert.ok(said > 30, `${said}`);
  });

  test("is shown with its secrets as a file that is read, without them with nothing of what is not known", () => {
    fc.assert(
      fc.property(resources, (resource) => {
        const schema = schemaOf(resource.type.typeUrl.slice(resource.type.typeUrl.lastIndexOf("/") + 1));
        const message = fromBinary(schema, resource.body);
        const whole = JSON.stringify(readableJson(message, { secrets: true }));
        assert.equal(bytesOf(readBack(whole, "json")[0]), bytesOf(resource));
        let text = "";
        try {
          text = JSON.stringify(readableJson(message));
        } catch {
          // Nothing is shown then.
        }
        assert.ok(!/"@(unknown|value)":"(?!\[redacted\]|1"|CAE=)/.test(text), text);
      }),
      { numRuns: 100 },
    );
  });
});
