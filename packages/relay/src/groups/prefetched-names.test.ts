import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { resourceTypes } from "@xdskit/api";
import { createPrefetchedNames } from "./prefetched-names.js";

const typeOf = (name: string) => resourceTypes.find(name)!;
const endpointFolder = "xdstp://a/envoy.config.endpoint.v3.ClusterLoadAssignment/f";

/** [comes with a collection, is asked for because it is named], for each of these references. */
function answersFor(prefetch: boolean, ...references: readonly (readonly [type: string, name: string])[]) {
  const collections = [
    { type: typeOf("cluster"), name: "*" },
    { type: typeOf("endpoint"), name: `${endpointFolder}/*` },
  ];
  const canAsk = (type: object) => type !== typeOf("secret");
  const asked = createPrefetchedNames({ collections, canAsk, prefetch }, resourceTypes);
  return references.map(([typeName, name]) => {
    const reference = { type: typeOf(typeName)?.typeUrl ?? typeName, name };
    return [asked.isInCollection(reference), asked.isFollowed(reference)];
  });
}

describe("the names that a group asks its origin for", () => {
  it("come with a collection that is always asked for, and are not asked for once more", () => {
    const comes = [true, false];
    assert.deepEqual(answersFor(true, ["cluster", "c"], ["endpoint", `${endpointFolder}/e`]), [comes, comes]);
    assert.deepEqual(answersFor(true, ["cluster", "*"], ["endpoint", `${endpointFolder}/*`])[1], [false, false]);
  });

  it("are followed if a resource has them, one by one only with prefetch", () => {
    const names = [
      ["endpoint", "e"],
      ["route", "*"],
    ] as const;
    assert.deepEqual(answersFor(true, ...names), [
      [false, true],
      [false, true],
    ]);
    assert.deepEqual(answersFor(false, ...names), [
      [false, false],
      [false, true],
    ]);
  });

  it("are none of a type that the origin cannot be asked for, or that is not known, and no virtual hosts", () => {
    const nothing = [false, false];
    const names = [
      ["secret", "s"],
      ["example.Unknown", "u"],
      ["virtual-host", "r/*"],
    ] as const;
    assert.deepEqual(answersFor(true, ...names), [nothing, nothing, nothing]);
  });
});
