import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { resourceTypes } from "@xdskit/api";
import { emptySnapshot, type Snapshot, updateSnapshot } from "../../model/snapshots/snapshot.js";
import { sampleResource, urlOf } from "../../testing/sample-resources.js";
import { encodeRequest } from "../../testing/wire.js";
import { defaultStreamLimits } from "../contract/limits.js";
import { createStream } from "./stream.js";

const requests = 1_000;
const typeUrl = urlOf("endpoint", "v3");
const limits = { ...defaultStreamLimits, namesPerRequest: 100_000, namesPerStream: 1_000_000 };

type Client = "answers" | "answers nothing" | "reads nothing";

/**
 * The time of a request of one name on top of `names` names, in microseconds. The median of many leaves out
 * compilation, and the pauses of a busy machine.
 */
function timeOfGrowth(names: number, client: Client, change: "added" | "removed", snapshot: Snapshot): number {
  const variant = "delta";
  const options = {
    variant,
    api: "v3",
    types: resourceTypes,
    only: undefined,
    defaultNode: undefined,
    limits,
  } as const;
  const stream = createStream({ ...options, authorities: new Set(["x"]) });
  stream.step({ kind: "snapshot", snapshot });
  let nonce = "";
  const ask = (request: { readonly subscribe?: string[]; readonly unsubscribe?: string[] }) => {
    const node = nonce === "" ? { id: "n" } : undefined;
    const answered = client === "answers" ? nonce : "";
    const [effect] = stream.step({
      kind: "request",
      bytes: encodeRequest(variant, { typeUrl, node, nonce: answered, ...request }),
    });
    assert.notEqual(effect?.kind, "close");
    if (client !== "reads nothing" || nonce === "") nonce = stream.next()?.nonce ?? nonce;
  };
  const all = Array.from({ length: names }, (_, index) => `name-${index}`);
  ask({ subscribe: all });
  const times = Array.from({ length: requests }, (_, index) => {
    const begin = process.hrtime.bigint();
    ask(change === "added" ? { subscribe: [`another-${index}`] } : { unsubscribe: [`name-${index}`] });
    return Number(process.hrtime.bigint() - begin) / 1e3;
  });
  times.sort((one, other) => one - other);
  return times[requests / 2] ?? Number.NaN;
}

describe("a request of one name", () => {
  const nothing = emptySnapshot();
  const some = updateSnapshot(nothing, { upsert: [sampleResource("endpoint", "name-1", "1")] });
  for (const { client, change, snapshot } of [
    { client: "answers", change: "added", snapshot: some },
    { client: "answers", change: "removed", snapshot: some },
    { client: "answers nothing", change: "added", snapshot: nothing },
    { client: "reads nothing", change: "added", snapshot: some },
  ] as const) {
    it(`a request of one name costs about the same on top of 100,000 names as on top of 2,000: ${change}, by a client that ${client}`, () => {
      const few = timeOfGrowth(2_000, client, change, snapshot);
      const many = timeOfGrowth(100_000, client, change, snapshot);
      assert.ok(many < 8 * few, `${many} µs against ${few} µs`);
    });
  }
});
