import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { resourceTypes } from "@xdskit/api";
import { manualClock } from "../../testing/basics/manual-clock.js";
import { testNode } from "../../testing/test-node.js";
import { NameWaits } from "./name-waits.js";
import { WantedName } from "./wanted.js";

const type = resourceTypes.find("cluster")!;
const named = (count: number) =>
  Array.from({ length: count }, (_, index) => new WantedName(type, `name-${index}`, testNode()));

describe("names that wait for the same time", () => {
  it("each end in time, even if earlier ones begin to wait anew", () => {
    const clock = manualClock();
    const over = new Map<string, number>();
    const waits = new NameWaits<WantedName>(clock, (kind, wanted) => {
      if (!over.has(wanted.name)) over.set(wanted.name, clock.now());
      waits.start(kind, wanted, 10_000);
    });
    // More than one turn handles; the last comes a second later.
    const names = named(2_500);
    for (const wanted of names.slice(1)) waits.start("next-call", wanted, 10_000);
    clock.advance(1_000);
    const [last] = names as [WantedName];
    waits.start("next-call", last, 10_000);
    clock.advance(9_000);
    assert.equal(over.size, 2_499);
    clock.advance(1_000);
    assert.equal(over.get(last.name), 11_000);
  });
});
