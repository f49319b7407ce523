import assert from "node:assert/strict";
import { test } from "node:test";
import { FewSet } from "./few-set.js";

test("a set that mostly has one member is a set, whatever it has", () => {
  const few = new FewSet<number>();
  const like = new Set<number>();
  let seed = 1;
  const random = (below: number) => {
    seed = (seed * 48_271) % 2_147_483_647;
    return seed % below;
  };
  for (let step = 0; step < 2_000; step += 1) {
    const member = random(4);
    if (random(2) === 0) {
      few.add(member);
      like.add(member);
    } else {
      assert.equal(few.delete(member), like.delete(member));
    }
    assert.deepEqual([[...few], few.size, few.has(1)], [[...like], like.size, like.has(1)]);
  }
});

test("what is deleted while it is gone through is still gone through", () => {
  const few = new FewSet<string>();
  few.add("a");
  few.add("b");
  const seen: string[] = [];
  for (const member of few) {
    seen.push(member);
    few.delete("b");
  }
  assert.deepEqual(seen, ["a", "b"]);
});
