import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { type Revision, storeFinding } from "@xdskit/server";
import type { KeyValue } from "./client/messages.js";
import { HeadsFollower } from "./heads-follower.js";

function state(id: string): readonly KeyValue[] {
  return [{ key: "heads/one", value: Buffer.from(id), writtenAt: 1 }];
}

/** A follower, what it tells, and whether it can read. */
function followed(t: TestContext) {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const reading = { isPossible: false };
  const heard: string[] = [];
  const read = async (id: string) => {
    if (!reading.isPossible) throw new Error("no member answers");
    return { id, layer: "one" } as Revision;
  };
  const follower = new HeadsFollower(read, {
    moved: (heads) => heard.push(heads.map(({ id }) => id).join()),
    away: ({ message }) => heard.push(message),
  });
  return { follower, heard, reading };
}

describe("a follower of heads", () => {
  it("never goes back to heads that could not be read once newer ones are told", async (t) => {
    const { follower, heard, reading } = followed(t);
    follower.entriesChanged(state("older"));
    await nextTurn();
    reading.isPossible = true;
    follower.entriesChanged(state("newer"));
    await nextTurn();
    assert.deepEqual(heard, ["no member answers", "newer"]);
    t.mock.timers.tick(10_000);
    await nextTurn();
    assert.deepEqual(heard, ["no member answers", "newer"]);
  });

  it("says once that heads cannot be read, however often it tries", async (t) => {
    const { follower, heard, reading } = followed(t);
    follower.away(storeFinding(new Error("no member answers")));
    for (let tries = 0; tries < 3; tries += 1) {
      follower.entriesChanged(state("a"));
      await nextTurn();
      t.mock.timers.tick(10_000);
      await nextTurn();
    }
    assert.deepEqual(heard, ["no member answers"]);
    reading.isPossible = true;
    follower.entriesChanged(state("a"));
    await nextTurn();
    follower.away(storeFinding(new Error("away again")));
    assert.deepEqual(heard, ["no member answers", "a", "away again"]);
  });

  it("tells heads that could not be read once they can be", async (t) => {
    const { follower, heard, reading } = followed(t);
    follower.entriesChanged(state("a"));
    await nextTurn();
    reading.isPossible = true;
    t.mock.timers.tick(10_000);
    await nextTurn();
    assert.deepEqual(heard, ["no member answers", "a"]);
  });
});
