import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { fullSettings } from "../../../settings/rollout-settings.js";
import { times } from "../../../testing/basics/effort.js";
import { randomFrom } from "../../../testing/basics/random.js";
import { begun, type Count, type Course, decide, halted, isOver, newCourse, resumed } from "./course.js";
import { createShare, positionOf } from "./share.js";

/** `SEED=7` plays one seed. */
const { SEED } = process.env;
const seeds = SEED === undefined ? Array.from({ length: times(200) }, (_, index) => index + 1) : [Number(SEED)];
const settings = fullSettings({ steps: [{ count: 2 }, { percent: 40 }, { percent: 80 }], soakMs: 1_000 });

/** The counts of these nodes after they have carried out a course, and some of them have answered. */
function countOf(course: Course, nodes: readonly string[], answered: number): Count {
  const { list, turn, reach, phase } = course;
  const share = createShare(reach);
  const reached = nodes.filter((id) => share.has({ id } as Parameters<typeof share.has>[0]));
  const acknowledged = Math.min(answered, reached.length);
  const waitsFor = new Set(reached.slice(acknowledged));
  return {
    list,
    turn,
    acknowledged,
    pending: waitsFor.size,
    added: reached.length,
    rejected: 0,
    waitsFor: () => waitsFor,
    rejections: () => [],
    candidates: () => (phase === "choosing" ? nodes.map(positionOf) : []),
  };
}

describe("the course of a rollout that several carry out", () => {
  for (const seed of seeds) {
    it(`takes each step once, after all have answered the one before, and a halt holds (seed ${seed})`, () => {
      const random = randomFrom(seed);
      const fleets = Array.from({ length: 3 }, (_, at) => Array.from({ length: 4 }, (_, index) => `${at}-${index}`));
      let course = begun(newCourse(settings), settings);
      let version = 0;
      /**
       * The course that each fleet has carried out. Each server that decides in turn knows a course and counts, which
       * may be old.
       */
      const carried = fleets.map(() => course);
      const answers = fleets.map(() => 0);
      const known = fleets.map(() => ({ course, version, counts: fleets.map((ids) => countOf(course, ids, 0)) }));
      const steps: number[] = [];
      for (let turn = 0; turn < 40_000 && !isOver(course); turn++) {
        const at = random(3);
        const of = random(3);
        const ids = fleets[of] ?? [];
        const knows = known[at];
        if (knows === undefined) continue;
        const before = course;
        switch (random(6)) {
          case 0:
            if (carried[of]?.round !== course.round) answers[of] = 0;
            carried[of] = course;
            break;
          case 1:
            answers[of] = (answers[of] ?? 0) + 1;
            break;
          case 2:
            knows.counts[of] = countOf(carried[of] ?? course, ids, answers[of] ?? 0);
            break;
          case 3:
            known[at] = { ...knows, course, version };
            break;
          case 4: {
            // The server that decides may have been taken for dead. It writes only over the course that it knows.
            const next = decide(knows.course, knows.counts, knows.course.phase === "soaking");
            if (next === undefined || knows.version !== version) break;
            assert.ok(next.step === before.step || next.step === before.step + 1, "one step at a time");
            assert.notEqual(before.phase, "halted", "a halt holds");
            if (next.phase === "choosing" || isOver(next)) {
              assert.ok(carried.every((each) => each.round === before.round));
              steps.push(before.step);
            }
            course = next;
            version += 1;
            break;
          }
          default:
            // In the last quarter nobody halts the rollout any more, and a server that finds it halted resumes it.
            if (turn < 30_000 ? random(150) !== 0 : course.phase !== "halted") break;
            course = course.phase === "halted" ? resumed(course, 0) : halted(course, "by hand");
            version += 1;
        }
      }
      assert.equal(course.phase, "completed");
      assert.deepEqual(steps, [0, 1, 2]);
    });
  }
});

it("chooses its nodes after it was resumed, if it was halted before they were chosen", () => {
  const resumedCourse = resumed(halted(begun(newCourse(settings), settings), "by hand"), 0);
  assert.equal(resumedCourse.phase, "choosing");
  const chosen = decide(resumedCourse, [countOf(resumedCourse, ["a", "b", "c"], 0)], false) ?? assert.fail();
  assert.equal(chosen.reach.positions.length, 2);
  assert.equal(resumed(halted(chosen, "by hand"), 0).phase, "waiting");
});

it("a step by count takes the lowest positions of all, and a node counts once that several have", () => {
  const first = begun(newCourse(settings), settings);
  const chosen = decide(first, [countOf(first, ["a", "b", "c"], 0), countOf(first, ["c", "d"], 0)], false);
  const lowest = ["a", "b", "c", "d"].map(positionOf).sort((a, b) => a - b);
  assert.deepEqual(chosen?.reach.positions, lowest.slice(0, 2));
  assert.equal(chosen?.reach.room, 0);
});

it("a step by count counts the nodes that an earlier step reached also while they are away", () => {
  const [first = "", ...others] = ["a", "b", "c", "d", "e", "f"].sort((a, b) => positionOf(a) - positionOf(b));
  const byCount = fullSettings({ steps: [{ count: 1 }, { count: 4 }], soakMs: 0 });
  const take = (course: Course, nodes: readonly string[], answered: number) =>
    decide(course, [countOf(course, nodes, answered)], false) ?? course;
  const all = [first, ...others];
  const one = take(begun(newCourse(byCount), byCount), all, 0);
  assert.deepEqual(one.reach.positions, [first].map(positionOf));
  // The first node goes to another server while the step of four chooses.
  const four = take(take(one, all, 1), others, 0);
  assert.deepEqual(four.reach.positions, all.slice(0, 4).map(positionOf));
  assert.equal(four.reach.room, 0);
  // A change on top begins with one node again. All that were reached have gone, and one must try it.
  const anew = take(begun(four, byCount), others.slice(3), 0);
  assert.deepEqual(anew.reach.positions, all.slice(0, 5).map(positionOf));
});

it("a step that found new nodes is soaked, although the servers that have them now did not add them", () => {
  const nodes = ["a", "b", "c", "d", "e", "f"];
  // After the server that had them died, they are at another one, or come back there while it answers.
  const elsewhere = (of: Course) => ({ ...countOf(of, nodes, nodes.length), added: 0 });
  for (const last of [{ count: 4 }, { percent: 100 }]) {
    const steps = fullSettings({ steps: [{ count: 1 }, last, { percent: 100 }], soakMs: 1_000 });
    let course = begun(newCourse(steps), steps);
    const phases: string[] = [];
    for (let round = 0; course.step < 2 && round < 20; round += 1) {
      course = decide(course, [elsewhere(course)], course.phase === "soaking") ?? assert.fail(course.phase);
      phases.push(`${course.step} ${course.phase}`);
    }
    const once = (step: number) => [`${step} choosing`, `${step} waiting`, `${step} soaking`, `${step} waiting`];
    assert.deepEqual(phases, [...once(0).slice(1), ...once(1), "2 choosing"], JSON.stringify(last));
  }
});

it("a step that takes nodes which come later is soaked", () => {
  const steps = fullSettings({ steps: [{ count: 1 }, { count: 2 }, { percent: 100 }], soakMs: 1_000 });
  let course = begun(newCourse(steps), steps);
  const phases: string[] = [];
  for (let round = 0; course.step < 2 && round < 20; round += 1) {
    const nodes = course.step === 1 && course.phase !== "choosing" ? ["a", "b"] : ["a"];
    const count = { ...countOf(course, nodes, 2), added: course.step === 0 ? 1 : 0 };
    const comes = {
      ...count,
      candidates: () => (course.reach.room > 0 || course.phase === "choosing" ? nodes.map(positionOf) : []),
    };
    course = decide(course, [comes], course.phase === "soaking") ?? assert.fail(course.phase);
    phases.push(`${course.step} ${course.phase}`);
  }
  assert.deepEqual(phases.slice(-5), ["1 waiting", "1 waiting", "1 soaking", "1 waiting", "2 choosing"]);
});

it("a halted rollout takes no nodes that come, also if its step has room", () => {
  const byCount = fullSettings({ steps: [{ count: 3 }], soakMs: 1_000 });
  const first = begun(newCourse(byCount), byCount);
  const chosen = decide(first, [countOf(first, ["a"], 0)], false) ?? assert.fail();
  assert.equal(chosen.reach.room, 2);
  const come = (course: Course) => ({ ...countOf(course, ["a", "b"], 1), candidates: () => [positionOf("b")] });
  const stopped = halted(chosen, "by hand");
  assert.equal(decide(stopped, [come(stopped)], false), undefined);
  const again = resumed(stopped, 0);
  assert.equal(decide(again, [come(again)], false)?.reach.room, 1);
});

it("a step that finds no new node is not soaked", () => {
  const steps = fullSettings({ steps: [{ count: 2 }, { count: 3 }, { percent: 100 }], soakMs: 1_000 });
  const count = (of: Course) => ({ ...countOf(of, ["a", "b"], 2), added: of.step === 0 ? 2 : 0 });
  let course = begun(newCourse(steps), steps);
  const phases: string[] = [];
  for (let round = 0; !isOver(course) && round < 20; round += 1) {
    course = decide(course, [count(course)], course.phase === "soaking") ?? assert.fail(course.phase);
    phases.push(`${course.step} ${course.phase}`);
  }
  assert.deepEqual(phases.slice(3), ["1 choosing", "1 waiting", "2 choosing", "2 waiting", "2 completed"]);
});

it("rejections of one node at two servers count once, and those of an earlier change not at all", () => {
  const strict = { ...settings, haltAfter: 2 };
  const first = begun(newCourse(strict), strict);
  const course = decide(first, [countOf(first, ["a", "b"], 0)], false) ?? assert.fail();
  const rejecting = (node: string, list = course.list): Count => ({
    ...countOf(course, ["a", "b"], 0),
    list,
    rejected: 1,
    rejections: () => [{ node, type: "cluster", version: "v" as never, code: 3, message: "no", at: new Date(0) }],
  });
  assert.equal(decide(course, [rejecting("a"), rejecting("a")], false), undefined);
  assert.equal(decide(course, [rejecting("a"), rejecting("b", 0)], false), undefined);
  assert.equal(decide(course, [rejecting("a"), rejecting("b")], false)?.reason, "2 nodes rejected it: no");
});
