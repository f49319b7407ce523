import assert from "node:assert/strict";
import { it } from "node:test";
import type { Resource } from "@xdskit/api";
import { emptySnapshot, updateSnapshot } from "../index.js";
import type { ResourceSet } from "../model/sets/resource-set.js";
import { sampleResource } from "../testing/sample-resources.js";
import { typeOf } from "../testing/sample-world.js";
import type { InUse } from "./in-use.js";
import { computeStage } from "./make-before-break.js";

/** The use of a type by a client that uses these sets, and holds the last of them. */
function inUse(word: "listener" | "route", used: readonly ResourceSet[], draining: readonly Resource[]): InUse {
  return {
    type: typeOf(word),
    sentSet: used.at(-1),
    lastGood: new Map(),
    used: new Set(used),
    draining: new Set(draining),
    ackedOrInFlight: undefined,
    isFirst: false,
    isEstablished: true,
    isTaken: undefined,
  };
}

it("a removal waits for the acknowledgement of each process that uses a listener, as two processes may have one node id", () => {
  const [listener, route] = [typeOf("listener"), typeOf("route")];
  const before = updateSnapshot(emptySnapshot(), {
    upsert: [sampleResource("listener", "l", "1->r"), sampleResource("route", "r", "1->c")],
  });
  const wanted = updateSnapshot(before, {
    upsert: [sampleResource("listener", "l", "2->s"), sampleResource("route", "s", "1->c")],
    remove: [{ type: route, name: "r" }],
  });
  const [old, current] = [before.of(listener), wanted.of(listener)];
  const kinds = (used: readonly ResourceSet[]) => {
    const types = new Map([
      [listener.typeUrl, inUse("listener", used, [...old])],
      [route.typeUrl, inUse("route", [before.of(route)], [])],
    ]);
    const { waits, awaited } = computeStage(types, wanted);
    return [...waits.map(({ kind }) => kind), ...awaited];
  };
  assert.deepEqual(kinds([current]), ["linger"]);
  assert.deepEqual(kinds([old, current]), ["break", listener.typeUrl]);
});
