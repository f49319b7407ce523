import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { fullSettings } from "../../../settings/rollout-settings.js";
import { type Ending, ended, newCourse } from "../course/course.js";
import type { RolloutRecord } from "../records/record.js";
import { type HeldChange, nextStep, stepOnceAligned } from "./course-step.js";

const course = newCourse(fullSettings({ steps: [] }));
const underWay: RolloutRecord = {
  group: "g",
  id: 3,
  writes: 1,
  course,
  change: "theirs",
  past: ["old"],
  startedAt: 0,
  since: 0,
};
const over = (how: Ending): RolloutRecord => ({ ...underWay, course: ended(course, how) });
const held: HeldChange = {
  isNothing: false,
  change: "ours",
  history: new Set(["ours"]),
  isFresh: false,
  id: 3,
  lastId: 3,
};
const mine: HeldChange = { ...held, history: new Set(["theirs", "ours"]) };
const begins = { kind: "propose", wanted: "begin" };

describe("the next step of a group", () => {
  it("begins a rollout where there is none, or where the last one was over before the change came", () => {
    assert.deepEqual(nextStep(undefined, held), begins);
    assert.deepEqual(nextStep(over("completed"), { ...held, id: undefined }), begins);
  });

  it("carries out a record of the same change, and withdraws one of its own that nothing is left of", () => {
    assert.equal(nextStep({ ...underWay, change: "ours" }, held).kind, "carry-out");
    assert.equal(nextStep({ ...over("rolled-back"), change: "ours" }, held).kind, "carry-out");
    assert.deepEqual(nextStep(underWay, { ...mine, isNothing: true }), { kind: "propose", wanted: "withdraw" });
    assert.deepEqual(nextStep(underWay, { ...held, isNothing: true }), { kind: "end" });
  });

  it("begins again on top of its own change, and compares itself with a change of others first", () => {
    assert.deepEqual(nextStep(underWay, mine), begins);
    assert.equal(nextStep(underWay, held).kind, "align");
    assert.deepEqual(stepOnceAligned(underWay, held), { kind: "wait" });
    assert.deepEqual(stepOnceAligned(underWay, { ...held, isFresh: true }), begins);
    // It is behind: the others had this before.
    assert.deepEqual(stepOnceAligned(underWay, { ...held, change: "old", isFresh: true }), { kind: "wait" });
  });

  it("outlives a rollout that is over, and waits after a withdrawn one unless it is ahead", () => {
    const record = over("completed");
    assert.deepEqual(nextStep(record, held), { kind: "outlive", record, isAhead: false });
    assert.deepEqual(nextStep(record, mine), { kind: "outlive", record, isAhead: true });
    assert.deepEqual(nextStep(over("withdrawn"), held), { kind: "wait" });
    assert.equal(nextStep(over("withdrawn"), { ...held, isFresh: true }).kind, "outlive");
  });

  it("never begins what was rolled back again where that comes later", () => {
    const record = over("rolled-back");
    const late: HeldChange = { ...held, id: 3, lastId: 3 };
    assert.equal(nextStep(record, late).kind, "align");
    assert.deepEqual(stepOnceAligned(record, late), { kind: "wait" });
    assert.equal(nextStep(record, { ...late, change: "theirs", isFresh: true }).kind, "carry-out");
    assert.deepEqual(stepOnceAligned(record, mine), { kind: "outlive", record, isAhead: true });
  });

  it("ends where nodes have all of what was held back", () => {
    const nothing = { ...held, isNothing: true };
    for (const record of [underWay, over("rolled-back")])
      assert.deepEqual(stepOnceAligned(record, nothing), { kind: "end" });
  });
});
