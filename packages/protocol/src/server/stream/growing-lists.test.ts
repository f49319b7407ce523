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

/** The time of requests of one name each on top of `names` names, in milliseconds. */
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
  const begin = process.hrtime.bigint();
  for (let index = 0; index < requests; index++) {
    ask(change === "added" ? { subscribe: [`another-${index}`] } : { unsubscribe: [`name-${index}`] });
  }
  return Number(process.hrtime.bigint() - begin) / 1e6;
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
      // The least of two runs leaves out compilation, and pauses of a busy machine.
      const least = (names: number) =>
        Math.min(timeOfGrowth(names, client, change, snapshot), timeOfGrowth(names, client, change, snapshot));
      const few = least(2_000);
      const many = least(100_000);
      assert.ok(many < 8 * few, `${many} ms against ${few} ms`);
    });
  }
});
