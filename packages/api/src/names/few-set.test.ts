import assert from "node:assert/strict";
import { test } from "node:test";
import { type Few, fewHas, fewMembers, fewSize, fewWith, fewWithout } from "./few-set.js";

test("a FewSet behaves like a Set, whatever it holds", () => {
  let few: Few<number>;
  const like = new Set<number>();
  let seed = 1;
  const random = (below: number) => {
    seed = (seed * 48_271) % 2_147_483_647;
    return seed % below;
  };
  for (let step = 0; step < 2_000; step += 1) {
    const member = random(4);
    if (random(2) === 0) {
      few = fewWith(few, member);
      like.add(member);
    } else {
      assert.equal(fewHas(few, member), like.delete(member));
      few = fewWithout(few, member);
    }
    assert.deepEqual([fewMembers(few), fewSize(few), fewHas(few, 1)], [[...like], like.size, like.has(1)]);
  }
});

test("a member that is deleted during an iteration is still visited", () => {
  let few: Few<string> = fewWith(fewWith<string>(undefined, "a"), "b");
  const seen: string[] = [];
  for (const member of fewMembers(few)) {
    seen.push(member);
    few = fewWithout(few, "b");
  }
  assert.deepEqual(seen, ["a", "b"]);
});
