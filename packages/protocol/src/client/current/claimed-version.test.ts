import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ClaimedVersion } from "./claimed-version.js";

type Event =
  | ("hold all" | "hold names" | "more" | "everything" | "everything later" | "less" | "empty" | "lose")
  | ("good" | "bad" | "partial");

/** What a first request on the next stream claims after these events, and a repeated one on this stream. */
function claimsAfter(isFullState: boolean, ...events: readonly (Event | "next stream")[]) {
  let stream = 1;
  const claimed = new ClaimedVersion(isFullState, () => stream);
  claimed.acknowledged("v");
  const steps: Record<Event | "next stream", () => void> = {
    "next stream": () => void stream++,
    "hold all": () => claimed.hold("v", true),
    "hold names": () => claimed.hold("v", false),
    more: () => claimed.widened(false, undefined, true),
    everything: () => claimed.widened(true, undefined, false),
    "everything later": () => claimed.widened(true, undefined, true),
    less: () => claimed.narrowed(false),
    empty: () => claimed.narrowed(true),
    lose: () => claimed.lose(),
    good: () => claimed.taken({ isGood: true, isPart: false, isChanged: true }),
    bad: () => claimed.taken({ isGood: false, isPart: false, isChanged: true }),
    partial: () => claimed.taken({ isGood: true, isPart: true, isChanged: true }),
  };
  for (const event of events) steps[event]();
  return [claimed.inRequest(true, true), claimed.inRequest(false, true)];
}

const [first, both, none] = [
  ["", "v"],
  ["v", "v"],
  ["", ""],
];

describe("the version that a client claims", () => {
  it("is the last one, as long as everything of it is held", () => {
    assert.deepEqual(claimsAfter(false), both);
    assert.deepEqual(claimsAfter(false, "good", "more", "less"), both);
    for (const event of ["everything", "empty", "lose", "bad", "partial"] as const)
      assert.deepEqual(claimsAfter(false, event), first, event);
  });

  it("is claimed again after a full state, or after any good response on another stream", () => {
    assert.deepEqual(claimsAfter(true, "lose", "good"), both);
    assert.deepEqual(claimsAfter(true, "lose", "bad"), first);
    assert.deepEqual(claimsAfter(true, "lose", "partial"), first);
    assert.deepEqual(claimsAfter(false, "lose", "good"), first);
    assert.deepEqual(claimsAfter(false, "lose", "next stream", "good"), both);
    assert.deepEqual(claimsAfter(false, "empty", "good"), both);
  });

  it("is not claimed for more than the content from elsewhere was of, not even in a repeated request", () => {
    assert.deepEqual(claimsAfter(false, "hold all", "everything"), both);
    assert.deepEqual(claimsAfter(false, "hold names", "everything"), none);
    assert.deepEqual(claimsAfter(false, "hold names", "more"), none);
    assert.deepEqual(claimsAfter(false, "hold all", "less", "everything"), none);
    assert.deepEqual(claimsAfter(false, "hold names", "more", "good"), both);
  });

  it("is not claimed on the next stream if everything was asked for in the middle of one", () => {
    assert.deepEqual(claimsAfter(true, "everything", "good"), both);
    assert.deepEqual(claimsAfter(true, "everything later", "good"), first);
    assert.deepEqual(claimsAfter(true, "everything later", "next stream", "good"), both);
  });

  it("is lost with a name of elsewhere that this server was not asked for, once a response came", () => {
    const claimed = new ClaimedVersion(false, () => 1);
    claimed.hold("v", false);
    const held = { stream: 0 } as Parameters<ClaimedVersion["widened"]>[1];
    claimed.widened(false, held, true);
    assert.equal(claimed.isWhole, true);
    claimed.taken({ isGood: true, isPart: false, isChanged: false });
    claimed.widened(false, held, true);
    assert.equal(claimed.isWhole, false);
  });
});
