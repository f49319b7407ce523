import assert from "node:assert/strict";
import { test } from "node:test";
import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { ClusterSchema } from "@xdskit/api/envoy/config/cluster/v3/cluster";
import { createRegistry } from "../registry/registry.js";
import { readJsonMessage } from "./json-message.js";

const registry = createRegistry();

/** A mapping that counts how often a value is read. */
function counted(json: JsonObject): { readonly json: JsonObject; readonly reads: () => number } {
  let reads = 0;
  const get = (target: JsonObject, key: string | symbol) => {
    reads += 1;
    return Reflect.get(target, key) as JsonValue;
  };
  return { json: new Proxy(json, { get }), reads: () => reads };
}

function unknownFields(count: number): JsonObject {
  return Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, index]));
}

test("reading stops where no further unknown field is told: nothing makes a copy of them", () => {
  const count = 10_000;
  const { json, reads } = counted({ name: "a", ...unknownFields(count) });
  const read = readJsonMessage(ClusterSchema, json, registry);
  assert.ok(read.kind === "problems");
  assert.equal(read.problems.length, 100);
  assert.deepEqual(read.problems[0]?.steps, ["k0"]);
  // protobuf's reader reads each of them once.
  assert.ok(reads() < count + 1_000, `${reads()} reads`);
});

test("a part in base64 is read although there are as many of them as problems are told", () => {
  const filters = Array.from({ length: 150 }, (_, index) => ({ name: `f${index}`, "@unknown": "" }));
  const read = readJsonMessage(ClusterSchema, { name: "a", filters }, registry);
  assert.equal(read.kind, "message");
  const others = readJsonMessage(ClusterSchema, { name: "a", filters: [...filters, { nme: "b" }] }, registry);
  assert.deepEqual(others.kind === "problems" && others.problems.map(({ code, steps }) => [code, ...steps]), [
    ["XDSKIT_FIELD_UNKNOWN", "filters", 150, "nme"],
  ]);
});
