import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { brokenRollouts, brokenSteps, type StepRecord } from "./harness/mesh/rollout-checker.js";

const plan = { counts: [1, 3], soakMs: 1_000 };
const reach = (count: number) => ({ positions: [0.1, 0.2, 0.3].slice(0, count) });

/** One rollout as it must go, from a moment on. It takes four seconds. */
function rollout(id: number, writes: number, at: number): readonly StepRecord[] {
  const record = (index: number, since: number, course: Omit<StepRecord["course"], "reason">): StepRecord => {
    return { group: "g", id, startedAt: at, writes: writes + index, since, course: { ...course, reason: "" } };
  };
  return [
    record(0, at, { phase: "choosing", step: 0, isSoaked: false, reach: reach(0) }),
    record(1, at + 100, { phase: "waiting", step: 0, isSoaked: false, reach: reach(1) }),
    record(2, at + 200, { phase: "soaking", step: 0, isSoaked: false, reach: reach(1) }),
    record(3, at + 1_200, { phase: "waiting", step: 0, isSoaked: true, reach: reach(1) }),
    record(4, at + 1_300, { phase: "choosing", step: 1, isSoaked: false, reach: reach(1) }),
    record(5, at + 1_400, { phase: "waiting", step: 1, isSoaked: false, reach: reach(3) }),
    record(6, at + 1_500, { phase: "soaking", step: 1, isSoaked: false, reach: reach(3) }),
    record(7, at + 2_500, { phase: "waiting", step: 1, isSoaked: true, reach: reach(3) }),
    record(8, at + 2_600, { phase: "choosing", step: 2, isSoaked: false, reach: reach(3) }),
    record(9, at + 2_700, { phase: "waiting", step: 2, isSoaked: false, reach: reach(3) }),
    record(10, at + 3_900, { phase: "completed", step: 2, isSoaked: false, reach: reach(3) }),
  ];
}

/** Numbers them anew, so that only what is left out is broken. */
function without(...left: readonly number[]): readonly StepRecord[] {
  const kept = rollout(1, 1, 0).filter((_, index) => !left.includes(index));
  return kept.map((record, index) => ({ ...record, writes: index + 1 }));
}

const brokenBy = (records: readonly StepRecord[]) => brokenRollouts(records, plan).join("; ");

describe("the checker of rollouts", () => {
  it("finds nothing in rollouts that go step by step", () => {
    assert.equal(brokenBy([...rollout(1, 1, 0), ...rollout(2, 12, 5_000)]), "");
  });

  it("finds a step that was left out, taken twice or not soaked", () => {
    assert.match(brokenBy(without(4, 5, 6, 7)), /step 2, choosing follows step 0/);
    assert.match(brokenBy(without(2, 3)), /step 0 was not soaked/);
    assert.match(brokenBy(without(8, 9)), /step 2, completed follows step 1/);
    const one = rollout(1, 1, 0);
    const twice = [...one.slice(0, 6), ...one.slice(4)].map((record, index) => ({ ...record, writes: index + 1 }));
    assert.match(brokenBy(twice), /2 nodes are not reached any more/);
    const back = one.map((each) => (each.writes === 9 ? { ...each, course: { ...each.course, step: 1 } } : each));
    assert.match(brokenBy(back), /record 10: step 2, waiting follows step 1|it leaves step 1 while it is choosing/);
    const short = one.map((record) => (record.writes === 4 ? { ...record, since: 500 } : record));
    assert.match(brokenBy(short), /it was soaked for 300 ms only/);
  });

  it("lets a step that had too few nodes take more while it soaks, and no longer for that", () => {
    const grown = (until: number) => {
      const few = (record: StepRecord) => ({ ...record, course: { ...record.course, reach: reach(2) } });
      const [before, after] = [rollout(1, 1, 0), rollout(1, 2, 0).slice(6)];
      const records = [...before.slice(0, 5), ...before.slice(5, 7).map(few), ...after];
      return records.map((record) => (record.writes === 9 ? { ...record, since: until } : record));
    };
    assert.equal(brokenBy(grown(2_500)), "");
    assert.match(brokenBy(grown(1_900)), /it was soaked for 400 ms only/);
  });

  it("finds a record that is missing, a node that is not reached any more, a halt, and a rollout without an end", () => {
    assert.match(brokenBy(rollout(1, 1, 0).filter(({ writes }) => writes !== 4)), /record 5: it follows record 3/);
    const one = rollout(1, 1, 0);
    const lost = one.map((each) => (each.writes < 8 ? each : { ...each, course: { ...each.course, reach: reach(2) } }));
    assert.match(brokenBy(lost), /1 nodes are not reached any more/);
    const halted = one.map((each) =>
      each.writes === 3 ? { ...each, course: { ...each.course, reason: "no answer" } } : each,
    );
    assert.match(brokenBy(halted), /it halted: no answer/);
    assert.match(brokenBy([...one.slice(0, 5), ...rollout(2, 6, 5_000)]), /the one before is choosing/);
    assert.match(brokenBy([...one, ...rollout(3, 12, 5_000)]), /it follows rollout 1/);
  });

  it("finds nodes that have a change too early, or lose it", () => {
    const records = rollout(1, 1, 0);
    const node = (name: string, content: number, at: number) => ({ node: name, content, at });
    const right = [node("a", 2, 150), node("b", 2, 1_450), node("c", 2, 1_460), node("d", 2, 2_800)];
    assert.deepEqual(brokenSteps(records, right, plan), []);
    const early = [node("a", 2, 150), node("b", 2, 1_250)];
    assert.match(brokenSteps(records, early, plan).join(), /2 nodes had it at step 0 of 1 nodes/);
    const all = [...right.slice(0, 3), node("d", 2, 2_550)];
    assert.match(brokenSteps(records, all, plan).join(), /4 nodes had it at step 1 of 3 nodes/);
    assert.match(brokenSteps(records, [node("a", 2, -5)], plan).join(), /a had it before it began/);
    const back = [node("a", 2, 150), node("a", 1, 160)];
    assert.match(brokenSteps(records, back, plan).join(), /a had content 1 after 2/);
  });
});
