import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createFairQueue } from "./fair-queue.js";
import { waitFor } from "./testing/wait-for.js";

describe("createFairQueue", () => {
  it("works in order of arrival, never within add, each item once however often it is added", async () => {
    const done: string[] = [];
    const queue = createFairQueue<string>((item) => done.push(item));
    for (const item of ["a", "b", "a", "c"]) queue.add(item, "changes");
    assert.deepEqual(done, []);
    await waitFor("the work", () => queue.size === 0);
    assert.deepEqual(done, ["a", "b", "c"]);
  });

  it("lets the event loop go on between slices", async () => {
    let turns = 0;
    const timer = setInterval(() => {
      turns += 1;
    }, 1);
    const queue = createFairQueue<number>(() => {
      const end = performance.now() + 1;
      while (performance.now() < end);
    }, 5);
    for (let item = 0; item < 100; item++) queue.add(item, "changes");
    await waitFor("the work", () => queue.size === 0);
    clearInterval(timer);
    assert.ok(turns >= 5, `100 ms of work left the event loop only ${turns} turns`);
  });

  it("works on what is added while it works, and leaves out what was deleted", async () => {
    const done: number[] = [];
    const queue = createFairQueue<number>((item) => {
      done.push(item);
      if (item === 1) {
        queue.add(1.5, "changes");
        queue.delete(2);
      }
    });
    for (const item of [1, 2, 3]) queue.add(item, "changes");
    await waitFor("the work", () => queue.size === 0);
    assert.deepEqual(done, [1, 3, 1.5]);
  });

  it("works on answers and changes in turn", async () => {
    const done: string[] = [];
    const queue = createFairQueue<string>((item) => done.push(item));
    for (const item of ["c1", "c2", "c3", "c4"]) queue.add(item, "changes");
    for (const item of ["a1", "a2", "c3"]) queue.add(item, "answers");
    queue.add("a1", "changes");
    await waitFor("the work", () => queue.size === 0);
    assert.deepEqual(done, ["a1", "c1", "a2", "c2", "c3", "c4"]);
  });
});
