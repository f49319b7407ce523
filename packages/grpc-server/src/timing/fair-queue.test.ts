import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { waitFor } from "../testing/wait-for.js";
import { createFairQueue } from "./fair-queue.js";

describe("createFairQueue", () => {
  it("items are handled in order of arrival, never inside add, and once however often they are added", async () => {
    const done: string[] = [];
    const queue = createFairQueue<string>((item) => done.push(item));
    for (const item of ["a", "b", "a", "c"]) queue.add(item, "changes");
    assert.deepEqual(done, []);
    await waitFor("the work", () => queue.size === 0);
    assert.deepEqual(done, ["a", "b", "c"]);
  });

  it("crowds take turns, however many items one of them has", async () => {
    const done: string[] = [];
    const queue = createFairQueue<string>((item) => done.push(item), { crowdOf: ([crowd = ""]) => crowd });
    for (const item of ["a1", "a2", "a3", "a4", "b1", "a1", "c1", "b2", "c2"]) queue.add(item, "answers");
    queue.delete("c1");
    queue.delete("c2");
    queue.delete("a3");
    assert.equal(queue.size, 5);
    queue.add("c3", "answers");
    await waitFor("the work", () => queue.size === 0);
    assert.deepEqual(done, ["a1", "b1", "c3", "a2", "b2", "a4"]);
  });

  it("a crowd keeps its turn when its first item leaves", async () => {
    const done: string[] = [];
    const queue = createFairQueue<string>((item) => done.push(item), { crowdOf: ([crowd = ""]) => crowd });
    for (const item of ["a1", "b1", "a2", "b2"]) queue.add(item, "answers");
    queue.delete("a1");
    queue.delete("b2");
    queue.add("a2", "changes");
    assert.equal(queue.size, 2);
    await waitFor("the work", () => queue.size === 0);
    assert.deepEqual(done, ["a2", "b1"]);
  });

  it("the event loop goes on between slices", async () => {
    let turns = 0;
    const timer = setInterval(() => {
      turns += 1;
    }, 1);
    const queue = createFairQueue<number>(() => {
      const end = performance.now() + 1;
      while (performance.now() < end);
    });
    for (let item = 0; item < 100; item++) queue.add(item, "changes");
    await waitFor("the work", () => queue.size === 0);
    clearInterval(timer);
    assert.ok(turns >= 5, `100 ms of work left the event loop only ${turns} turns`);
  });

  it("items that are added during the work are handled, and deleted ones are left out", async () => {
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

  it("the order stays when items leave and come back, and when the queue ran empty in between", async () => {
    const done: number[] = [];
    const queue = createFairQueue<number>((item) => {
      done.push(item);
      if (item !== 0) return;
      for (const each of [1, 2]) queue.delete(each);
      for (const each of [0.5, 1]) queue.add(each, "changes");
    });
    for (const item of [0, 1, 2, 3]) queue.add(item, "changes");
    await waitFor("the work", () => queue.size === 0);
    for (const item of [4, 5]) queue.add(item, "changes");
    for (const item of [4, 5]) queue.delete(item);
    for (const item of [6, 4]) queue.add(item, "changes");
    await waitFor("more work", () => queue.size === 0);
    const many = Array.from({ length: 1_000 }, (_, index) => 10 + index);
    for (const item of many) queue.add(item, "changes");
    await waitFor("much work", () => queue.size === 0);
    assert.deepEqual(done, [0, 3, 0.5, 1, 6, 4, ...many]);
  });

  it("answers and changes take turns", async () => {
    const done: string[] = [];
    const queue = createFairQueue<string>((item) => done.push(item));
    for (const item of ["c1", "c2", "c3", "c4"]) queue.add(item, "changes");
    for (const item of ["a1", "a2", "c3"]) queue.add(item, "answers");
    queue.add("a1", "changes");
    await waitFor("the work", () => queue.size === 0);
    assert.deepEqual(done, ["a1", "c1", "a2", "c2", "c3", "c4"]);
  });
});
