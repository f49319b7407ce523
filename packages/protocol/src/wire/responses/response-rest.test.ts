import assert from "node:assert/strict";
import { test } from "node:test";
import { create } from "@bufbuild/protobuf";
import { createResource, resourceTypes } from "@xdskit/api";
import { ClusterSchema } from "@xdskit/api/envoy/config/cluster/v3/cluster";
import fc from "fast-check";
import { deltaRest, sotwRest } from "./response-rest.js";
import { writeDeltaBody, writeSotwBody } from "./responses.js";

const { typeUrl } = resourceTypes.find("cluster")!;
const name = fc.string({ unit: "grapheme", minLength: 1, maxLength: 200 });
/** Small ones, and some that are too large to be copied. */
const size = fc.oneof(fc.nat(300), fc.integer({ min: 3_900, max: 20_000 }));
const resource = fc.record({ name, size, isVariant: fc.boolean(), ttl: fc.option(fc.integer({ min: 1, max: 9_000 })) });
const resources = fc.array(resource, { maxLength: 6 }).map((list) =>
  list.map(({ name, size, isVariant, ttl }) =>
    createResource(create(ClusterSchema, { name, altStatName: "x".repeat(size) }), {
      ttl: ttl ?? undefined,
      aliases: ["ä"],
      constraints: isVariant ? { kind: "value", key: "env", value: "prod" } : undefined,
    }),
  ),
);
const errors = fc.array(fc.record({ name, code: fc.nat(20), message: name }), { maxLength: 3 });
const head = fc.record({
  typeUrl: fc.constant(typeUrl),
  api: fc.constantFrom("v2" as const, "v3" as const),
  version: name,
  ttl: fc.boolean(),
  variants: fc.boolean(),
});
const fraction = fc.double({ min: 0, max: 1, noNaN: true });

function assertSame(body: Uint8Array, restFrom: (from: number) => Iterator<Uint8Array>, where: number): void {
  for (const from of [0, 1, Math.floor(body.length * where), body.length - 1, body.length]) {
    const pieces: Uint8Array[] = [];
    const rest = restFrom(from);
    for (let next = rest.next(); next.done !== true; next = rest.next()) pieces.push(next.value);
    assert.ok(pieces.every(({ length }) => length > 0));
    assert.ok(Buffer.concat(pieces).equals(body.subarray(from)), `from ${from} of ${body.length}`);
  }
}

test("the rest of a SotW response after an offset equals that part of the whole", () => {
  fc.assert(
    fc.property(head, resources, errors, fraction, (head, resources, errors, where) =>
      assertSame(writeSotwBody(head, resources, errors), (from) => sotwRest(head, resources, errors, from), where),
    ),
  );
});

test("the rest of a delta response after an offset equals that part of the whole", () => {
  const names = fc.array(name, { maxLength: 4 });
  const content = fc.record({
    resources,
    heartbeats: resources,
    removedVariants: resources,
    removed: names,
    unresolved: names,
    errors,
  });
  fc.assert(
    fc.property(head, content, fraction, (head, content, where) =>
      assertSame(writeDeltaBody(head, content), (from) => deltaRest(head, content, from), where),
    ),
  );
});

test("a large resource is not copied", () => {
  const large = createResource(create(ClusterSchema, { name: "a", altStatName: "x".repeat(100_000) }));
  const head = { typeUrl, api: "v3", version: "1", ttl: false, variants: false } as const;
  for (const rest of [
    sotwRest(head, [large], [], 50_000),
    deltaRest(head, { resources: [large], removed: [], unresolved: [] }, 50_000),
  ]) {
    assert.equal(rest.next().value?.buffer, large.body.buffer);
  }
});
