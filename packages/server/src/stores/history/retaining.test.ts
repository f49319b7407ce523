import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { withMethods } from "../../testing/with-methods.js";
import { createMemoryStore } from "../tables/memory-store.js";
import { Retaining } from "./retaining.js";

/** A store whose runs end when they are told to. */
async function retaining(t: TestContext) {
  const memory = await createMemoryStore();
  t.after(() => memory.close());
  const runs: { end(): void; fail(): void }[] = [];
  const problems: string[] = [];
  const store = withMethods(memory, {
    retain: () =>
      new Promise<number>((resolve, reject) => {
        runs.push({ end: () => resolve(0), fail: () => reject(new Error("nobody answers")) });
      }),
  });
  const retention = { revisions: 1, since: 0 };
  const onProblem = (findings: readonly { message: string }[]) =>
    void problems.push(...findings.map(({ message }) => message));
  return { made: new Retaining({ store, retention, onProblem }), runs, problems };
}

describe("the removal of old history", () => {
  it("runs once at a time, and once more for all that ask meanwhile", async (t) => {
    const { made, runs, problems } = await retaining(t);
    for (let asked = 0; asked < 3; asked += 1) made.soon();
    await nextTurn();
    assert.equal(runs.length, 1);
    runs[0]?.fail();
    await nextTurn();
    assert.deepEqual([runs.length, problems], [2, ["nobody answers"]]);
    runs[1]?.end();
    await nextTurn();
    assert.equal(runs.length, 2);
    made.soon();
    assert.equal(runs.length, 3);
  });

  it("ends with the run that is under way, and begins no other", async (t) => {
    const { made, runs } = await retaining(t);
    made.soon();
    made.soon();
    let isClosed = false;
    const closing = made.close().then(() => {
      isClosed = true;
    });
    await nextTurn();
    assert.equal(isClosed, false);
    runs[0]?.end();
    await closing;
    made.soon();
    await nextTurn();
    assert.equal(runs.length, 1);
  });
});
