import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createResource, envoyRegistry, resourceTypes } from "@xdskit/api";
import { cluster } from "../../testing/test-resources.js";
import { withMethods } from "../../testing/with-methods.js";
import { createMemoryStore } from "../tables/memory-store.js";
import { stepsBack } from "./steps-back.js";
import { encodeStored } from "./stored-content.js";

const layer = "own";
const reading = { types: resourceTypes, registry: envoyRegistry() };
const info = { author: "me", cause: { kind: "api", caller: "" }, message: "", time: 1 } as const;

/** A store in which a cluster has changed twice, and the content of its head. */
async function changedTwice(times: (version: number) => number = (version) => version) {
  return changedTo(3, times);
}

/** A store in which a cluster has changed until it is at that version. */
async function changedTo(last: number, times: (version: number) => number) {
  const store = await createMemoryStore();
  let parent: string | undefined;
  for (let number = 1; number <= last; number += 1) {
    const version = `${number}`;
    const upsert = [encodeStored(createResource(cluster("a", version)))];
    const result = await store.commit([{ layer, parent, kind: "patch", upsert }], {
      ...info,
      time: times(Number(version)),
    });
    assert.ok(result.kind === "committed");
    parent = result.heads[0]?.id;
  }
  return { store, now: [{ layer, kind: "replace", upsert: [createResource(cluster("a", `${last}`))] }] as const };
}

describe("the steps back from what layers hold", () => {
  it("lead through the revisions before, the newest first", async () => {
    const { store, now } = await changedTwice();
    const steps = await stepsBack(store, now, reading, new AbortController().signal);
    const held = steps.map(({ back }) => back[0]?.upsert[0]?.version);
    assert.deepEqual(held, [createResource(cluster("a", "2")).version, createResource(cluster("a", "1")).version]);
  });

  it("lead back one by one where two revisions of a layer have one time", async () => {
    const { store, now } = await changedTwice(() => 1);
    const steps = await stepsBack(store, now, reading, new AbortController().signal);
    assert.deepEqual(
      steps.map(({ forward }) => forward.map(({ upsert }) => upsert[0]?.version)),
      ["3", "2"].map((version) => [createResource(cluster("a", version)).version]),
    );
  });

  it("end where nobody waits for them any more", async () => {
    const { store, now } = await changedTwice();
    const late = new AbortController();
    let read = 0;
    const content: typeof store.content = async (...asked) => {
      read += 1;
      late.abort();
      return await store.content(...asked);
    };
    const slow = withMethods(store, { content });
    assert.equal((await stepsBack(slow, now, reading, late.signal)).length, 1);
    assert.equal(read, 1);
  });

  it("go back ten revisions, and to all that are younger than what may still drain", async () => {
    const { store, now } = await changedTo(31, (version) => version);
    const back = async (since?: number) =>
      (await stepsBack(store, now, reading, new AbortController().signal, since)).length;
    assert.equal(await back(), 10);
    assert.equal(await back(25), 10);
    assert.equal(await back(12), 20);
  });
});
