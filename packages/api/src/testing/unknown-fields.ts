import assert from "node:assert/strict";
import { create, type DescMessage, fromBinary, type Message, toBinary } from "@bufbuild/protobuf";
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { type Any, AnySchema, anyPack } from "@bufbuild/protobuf/wkt";
import fc from "fast-check";
import { createUnpack } from "../messages/any.js";
import { envoyRegistry } from "../registry/registry.js";
import { createResource, type Resource } from "../resources/resource.js";
import { childrenOf, messageFields } from "../unknown/unknown-fields.js";

const registry = envoyRegistry();

/** The schema of Envoy's message. */
export function schemaOf(typeName: string): DescMessage {
  return registry.getMessage(typeName) ?? assert.fail(typeName);
}

/** One field that no message of Envoy has, or also groups and long numbers. */
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

/** All messages in a message, including those in `Any`s, which are packed again afterwards. */
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
    metadata: { filterMetadata: { x: { "@unknown": "CAE=", "@value": "1", $unknown: [1] } } },
    dnsLookupFamily: 77,
  } as Record<string, unknown>);
  return [listener, cluster];
}

/**
 * A copy of a resource's message that has an unknown field in itself and in every message within, in the content of
 * known `Any`s too.
 */
export function withUnknownEverywhere(resource: Resource): Resource {
  const schema = resource.type.schema ?? assert.fail(resource.type.name);
  const message = fromBinary(schema, resource.body);
  let no = 99_000;
  visit(schema, message, (_, inner) => {
    no += 1;
    withUnknown(inner, [{ no, kind: no % 5, bytes: Uint8Array.of(no % 100) }]);
  });
  return createResource(message, { name: resource.name });
}

/** A listener or a cluster, with unknown fields in some of its messages at any depth. */
export const resourcesWithUnknown: fc.Arbitrary<Resource> = fc
  .tuple(
    fc.nat(1),
    fc.nat(50),
    fc.infiniteStream(fc.option(fc.array(unknownField, { minLength: 1, maxLength: 3 }), { freq: 2 })),
  )
  .map(([which, name, fields]) => {
    const message = samples()[which] ?? assert.fail();
    visit(schemaOf(message.$typeName), message, (_, inner) => {
      const { value } = fields.next();
      if (value !== null && value !== undefined) withUnknown(inner, value);
    });
    return createResource({ ...message, name: `n${name}` } as Message);
  });
