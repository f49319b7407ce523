import assert from "node:assert/strict";
import { test } from "node:test";
import { create, fromBinary, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { anyPack } from "@bufbuild/protobuf/wkt";
import { createResource, resourceTypes } from "@xdskit/api";
import { ClusterSchema } from "@xdskit/api/envoy/config/cluster/v3/cluster";
import { NodeSchema } from "@xdskit/api/envoy/config/core/v3/base";
import {
  DeltaDiscoveryRequestSchema,
  DeltaDiscoveryResponseSchema,
  DiscoveryRequestSchema,
  DiscoveryResponseSchema,
  ResourceSchema,
} from "@xdskit/api/envoy/service/discovery/v3/discovery";
import { MalformedMessage } from "@xdskit/api/wire";
import fc from "fast-check";
import { fingerprintOf } from "../../model/names/fingerprint.js";
import { times } from "../../testing/effort.js";
import { writeDeltaBody, writeNonce, writeSotwBody } from "../responses/responses.js";
import { type MostKept, nodeOf, readDeltaRequest, readSotwRequest } from "./requests.js";

const text = fc.string({ unit: "grapheme", maxLength: 12 });
const name = fc.string({ unit: "grapheme", minLength: 1, maxLength: 200 });
const clusters = fc.uniqueArray(fc.record({ name, aliases: fc.array(text), altStatName: text }), {
  selector: ({ name }) => name,
  maxLength: 5,
});
const clusterType = resourceTypes.find("cluster");
assert.ok(clusterType);
const head = { typeUrl: clusterType.typeUrl, api: "v3", version: "ü1", ttl: false, variants: false } as const;

test("a SotW response has the bytes that protobuf writes for the same content", () => {
  fc.assert(
    fc.property(clusters, (list) => {
      const messages = list.map(({ name, altStatName }) => create(ClusterSchema, { name, altStatName }));
      const body = writeSotwBody(
        head,
        messages.map((message) => createResource(message)),
      );
      const expected = create(DiscoveryResponseSchema, {
        versionInfo: head.version,
        typeUrl: head.typeUrl,
        nonce: "17",
        resources: messages.map((message) => anyPack(ClusterSchema, message)),
      });
      const read = fromBinary(DiscoveryResponseSchema, joined(body, writeNonce("17")));
      assert.deepEqual(read, expected);
    }),
  );
});

test("a delta response has the bytes that protobuf writes for the same content", () => {
  fc.assert(
    fc.property(clusters, fc.array(text), fc.array(text), (list, removed, unresolved) => {
      const messages = list.map(({ name, aliases, altStatName }) => ({
        message: create(ClusterSchema, { name, altStatName }),
        aliases,
      }));
      const resources = messages.map(({ message, aliases }) => createResource(message, { aliases }));
      const body = writeDeltaBody(head, { resources, removed, unresolved });
      const expected = create(DeltaDiscoveryResponseSchema, {
        systemVersionInfo: head.version,
        typeUrl: head.typeUrl,
        nonce: "9",
        removedResources: removed,
        resources: [
          ...resources.map(({ name, version, aliases }, index) => ({
            name,
            version,
            aliases: [...aliases],
            resource: anyPack(ClusterSchema, messages[index]!.message),
          })),
          ...unresolved.map((name) => ({ name, aliases: [name] })),
        ],
      });
      assert.deepEqual(fromBinary(DeltaDiscoveryResponseSchema, joined(body, writeNonce("9"))), expected);
    }),
  );
});

const ttl = fc.option(
  fc.record({ seconds: fc.bigInt({ min: 0n, max: 315_576_000_000n }), millis: fc.integer({ min: 1, max: 999 }) }),
  {
    nil: undefined,
  },
);
const living = fc.uniqueArray(fc.record({ name, ttl }), { selector: ({ name }) => name, maxLength: 5 });
const lived = (list: readonly { name: string; ttl: { seconds: bigint; millis: number } | undefined }[]) =>
  list.map(({ name, ttl }) => {
    const message = create(ClusterSchema, { name });
    const milliseconds = ttl === undefined ? undefined : Number(ttl.seconds) * 1000 + ttl.millis;
    const duration = ttl === undefined ? undefined : { seconds: ttl.seconds, nanos: ttl.millis * 1_000_000 };
    return { any: anyPack(ClusterSchema, message), resource: createResource(message, { ttl: milliseconds }), duration };
  });

test("a TTL is written as protobuf writes it: wrapped in SotW, as a field in delta, and in heartbeats without a body", () => {
  fc.assert(
    fc.property(living, living, (list, beating) => {
      const all = lived(list);
      const told = { ...head, ttl: true };
      const sotw = fromBinary(
        DiscoveryResponseSchema,
        writeSotwBody(
          told,
          all.map(({ resource }) => resource),
        ),
      );
      const wrapped = all.map(({ any, resource: { name }, duration }) =>
        duration === undefined
          ? any
          : anyPack(
              ResourceSchema,
              create(ResourceSchema, { name, version: head.version, resource: any, ttl: duration }),
            ),
      );
      assert.deepEqual(sotw.resources, wrapped);

      const beats = lived(beating);
      const content = { removed: [], unresolved: [], resources: all.map(({ resource }) => resource) };
      const delta = writeDeltaBody(told, { ...content, heartbeats: beats.map(({ resource }) => resource) });
      assert.deepEqual(fromBinary(DeltaDiscoveryResponseSchema, delta).resources, [
        ...all.map(({ any, resource: { name, version }, duration }) =>
          create(ResourceSchema, { name, version, resource: any, ...(duration && { ttl: duration }) }),
        ),
        ...beats.map(({ resource: { name, version }, duration }) =>
          create(ResourceSchema, { name, version, ...(duration && { ttl: duration }) }),
        ),
      ]);
    }),
  );
});

const struct = fc.dictionary(
  text.filter((key) => key !== "__proto__"),
  fc.oneof(text, fc.boolean(), fc.constant(null), fc.integer(), fc.array(text)),
);
const node = fc.record({
  id: text,
  cluster: text,
  metadata: struct,
  locality: fc.record({ region: text, zone: text, subZone: text }),
  userAgentName: text,
  clientFeatures: fc.array(text),
});

test("a SotW request is read as protobuf reads it", () => {
  const request = fc.record({
    versionInfo: text,
    resourceNames: fc.array(fc.oneof(text, name)),
    typeUrl: text,
    responseNonce: text,
    errorDetail: fc.option(
      fc.record({ code: fc.integer({ min: -9, max: 99 }), message: text }, { noNullPrototype: true }),
      { nil: undefined },
    ),
  });
  fc.assert(
    fc.property(request, node, (fields, node) => {
      const userAgentVersionType = { case: "userAgentVersion", value: "1.40.0" } as const;
      const message = create(DiscoveryRequestSchema, {
        ...fields,
        node: { ...node, userAgentVersionType, extensions: [{ name: "x" }] },
      });
      const bytes = toBinary(DiscoveryRequestSchema, message);
      const read = readSotwRequest(bytes);
      assert.deepEqual(new Set(read.names.toSet()), new Set(fields.resourceNames));
      assert.equal(read.names.length, fields.resourceNames.length);
      const { version, typeUrl, nonce, error } = read;
      assert.deepEqual(
        { version, typeUrl, nonce, error },
        {
          version: fields.versionInfo,
          typeUrl: fields.typeUrl,
          nonce: fields.responseNonce,
          error: fields.errorDetail,
        },
      );
      const expected = { ...node, userAgentVersion: "1.40.0" };
      assert.deepEqual(JSON.parse(JSON.stringify(nodeOf(bytes, read))), JSON.parse(JSON.stringify(expected)));
    }),
  );
});

test("a delta request is read as protobuf reads it, and its versions are summed up like a set's", () => {
  const request = fc.record({
    typeUrl: text,
    resourceNamesSubscribe: fc.array(text),
    resourceNamesUnsubscribe: fc.array(text),
    initialResourceVersions: fc.dictionary(
      text.filter((key) => key !== "__proto__"),
      text,
    ),
    responseNonce: text,
  });
  fc.assert(
    fc.property(request, (fields) => {
      const read = readDeltaRequest(toBinary(DeltaDiscoveryRequestSchema, create(DeltaDiscoveryRequestSchema, fields)));
      assert.deepEqual(new Set(read.subscribe.toSet()), new Set(fields.resourceNamesSubscribe));
      assert.deepEqual(new Set(read.unsubscribe.toSet()), new Set(fields.resourceNamesUnsubscribe));
      const versions = Object.entries(fields.initialResourceVersions);
      assert.deepEqual(read.claimed.toMap(), new Map(versions));
      if (versions.length === 1) assert.deepEqual(read.claimed.fingerprint, fingerprintOf(...versions[0]!));
      assert.equal(read.claimed.size, versions.length);
      assert.equal(read.typeUrl, fields.typeUrl);
      assert.equal(read.nonce, fields.responseNonce);
      assert.equal(nodeOf(new Uint8Array(), read), undefined);
    }),
  );
});

test("a byte order mark is part of a name", () => {
  const message = create(DiscoveryRequestSchema, { typeUrl: "\ufefft", resourceNames: ["\ufeffa", "a"] });
  const { typeUrl, names } = readSotwRequest(toBinary(DiscoveryRequestSchema, message));
  assert.deepEqual([typeUrl, [...names.toSet()]], ["\ufefft", ["\ufeffa", "a"]]);
});

test("a user agent's build version is written out", () => {
  const version = { majorNumber: 1, minorNumber: 40, patch: 2 };
  const node = create(NodeSchema, { userAgentVersionType: { case: "userAgentBuildVersion", value: { version } } });
  const bytes = toBinary(DiscoveryRequestSchema, create(DiscoveryRequestSchema, { node }));
  assert.equal(nodeOf(bytes, readSotwRequest(bytes))?.userAgentVersion, "1.40.2");
});

test("a long error is cut", () => {
  const request = create(DiscoveryRequestSchema, { errorDetail: { code: 3, message: "x".repeat(1_000_000) } });
  const { error } = readSotwRequest(toBinary(DiscoveryRequestSchema, request));
  assert.equal(error?.message.length, 4097);
});

test("any bytes are read as a request or refused as malformed, and read only if protobuf reads them", () => {
  const valid = toBinary(
    DeltaDiscoveryRequestSchema,
    create(DeltaDiscoveryRequestSchema, {
      node: { id: "n", metadata: { a: 1 } },
      typeUrl: "t",
      resourceNamesSubscribe: ["a", "ä"],
      initialResourceVersions: { a: "1" },
    }),
  );
  const mutated = fc
    .array(fc.tuple(fc.nat(valid.length - 1), fc.nat(255)), { maxLength: 4 })
    .map((edits) => edits.reduce((bytes, [index, byte]) => bytes.with(index, byte), valid));
  fc.assert(
    fc.property(fc.oneof(fc.uint8Array({ maxLength: 60 }), mutated), (bytes) => {
      for (const read of [readSotwRequest, readDeltaRequest]) {
        try {
          nodeOf(bytes, read(bytes));
        } catch (error) {
          assert.ok(error instanceof MalformedMessage, String(error));
        }
      }
    }),
    { numRuns: times(400) },
  );
});

for (const [what, bytes] of Object.entries({
  "a cut-off varint": [0x80],
  "field number 0": [0x00],
  "a field longer than the message": [0x0a, 0x05, 0x61],
  "an endless varint": new Array(11).fill(0xff),
  "an end of a group that did not start": [0x7c],
  "a group that does not end": [0x7b],
  "a wire type that does not exist": [0x7e],
  "invalid UTF-8": [0x22, 0x01, 0xff],
})) {
  test(`bytes are refused as malformed: ${what}`, () => {
    assert.throws(() => readSotwRequest(Uint8Array.from(bytes)), MalformedMessage);
  });
}

test("metadata that is nested too deep is malformed, and crashes nothing", () => {
  let value: Uint8Array = Uint8Array.of();
  const wrap = (field: number, content: Uint8Array): Uint8Array => {
    const length: number[] = [];
    for (let rest = content.length; ; rest >>>= 7) {
      length.push(rest < 0x80 ? rest : (rest & 0x7f) | 0x80);
      if (rest < 0x80) break;
    }
    return Buffer.concat([Uint8Array.of(field * 8 + 2), Uint8Array.from(length), content]);
  };
  for (let depth = 0; depth < 6000; depth++) value = wrap(6, wrap(1, value));
  const bytes = wrap(2, wrap(3, wrap(1, wrap(2, value))));
  assert.throws(() => nodeOf(bytes, readSotwRequest(bytes)), MalformedMessage);
});

test("unknown fields are skipped, groups too", () => {
  const bytes = Uint8Array.of(
    0x7b,
    0x78,
    0x01,
    0x7b,
    0x7c,
    0x7c,
    0x79,
    1,
    2,
    3,
    4,
    5,
    6,
    7,
    8,
    0x7d,
    1,
    2,
    3,
    4,
    0x22,
    1,
    0x74,
  );
  assert.equal(readSotwRequest(bytes).typeUrl, "t");
});

function joined(body: Uint8Array, tail: Uint8Array): Uint8Array {
  return Uint8Array.from([...body, ...tail]);
}

test("reading stops at the limit of names or claims", () => {
  const names = ["a", "b", "c"];
  const initialResourceVersions = { a: "1", b: "2", c: "3" };
  // The bytes after that are no message, and nobody reads them.
  const read = (request: MessageInitShape<typeof DeltaDiscoveryRequestSchema>, most: MostKept) => {
    const bytes = toBinary(DeltaDiscoveryRequestSchema, create(DeltaDiscoveryRequestSchema, request));
    return readDeltaRequest(new Uint8Array([...bytes, 0xff]), most);
  };
  const tooMany = (message: string) => ({ name: "TooManyFields", message });
  const twoNames = tooMany("a request has more than 2 resource names (names_per_request)");
  assert.throws(() => read({ resourceNamesSubscribe: names }, { names: 2, claims: 3 }), twoNames);
  assert.throws(() => read({ resourceNamesUnsubscribe: names }, { names: 2, claims: 3 }), twoNames);
  const oneClaim = tooMany("a request claims to have more than 1 resources (names_per_request)");
  assert.throws(() => read({ initialResourceVersions }, { names: 3, claims: 1 }), oneClaim);
  assert.throws(() => read({ initialResourceVersions }, { names: 3, claims: 3 }), MalformedMessage);
});
