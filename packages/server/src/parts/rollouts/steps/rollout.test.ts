import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { emptyResourceSet, type Rejection } from "@xdskit/protocol";
import type { MemberStanding } from "../../../contracts/parts/target-policy.js";
import { fullSettings } from "../../../settings/rollout-settings.js";
import { manualClock } from "../../../testing/basics/manual-clock.js";
import { testNode } from "../../../testing/test-node.js";
import { clusterResource } from "../../../testing/test-resources.js";
import type { Member } from "../members/member.js";
import { RolloutMachine } from "./rollout.js";

const soakMs = 1_000;
const timeoutMs = 5_000;
const settings = fullSettings({ steps: [{ count: 1 }, { percent: 100 }], soakMs, timeoutMs });
const [one, two] = [clusterResource("a", "1"), clusterResource("a", "2")];
const { type, key } = one;

/** A rollout of two nodes, which begins at once. `told` has what went out. */
function machineOf() {
  const told: string[] = [];
  const clock = manualClock();
  let meanwhile = () => {};
  const standings = new Map<string, MemberStanding>();
  const members = ["n1", "n2"].map((id, order): Member => {
    return {
      node: testNode({ id }),
      kind: "stream",
      client: { targetChanged() {}, standing: () => standings.get(id) ?? "pending" },
      order,
    };
  });
  const machine = new RolloutMachine({
    ...{ id: 1, group: "g", clock, members, isKeptFrom: () => false },
    spread() {
      told.push("spread");
      meanwhile();
    },
    report: (outcome) => void told.push(outcome),
  });
  const reached = () => members.filter((member) => machine.reaches(member));
  return {
    told,
    clock,
    machine,
    change: (after = two) => machine.change([{ type, key, before: one, after }], settings),
    pass: () => machine.pass([{ type, key, before: two, after: two }]),
    /** Those that get another snapshot answer at once. */
    answersAtOnce(): void {
      meanwhile = () => this.answer("synced");
    },
    /** All that were reached answer. */
    answer(standing: MemberStanding): void {
      for (const member of reached()) {
        standings.set(member.node.id, standing);
        if (standing === "rejected") machine.rejected(member, type, rejection);
        machine.progressed(member);
      }
    },
    outcome(): string {
      const { state, step, nodes } = machine.status();
      return [
        ...told.splice(0),
        `${state} ${step}`,
        `reaches ${reached().length}`,
        `waits for ${nodes.pending}`,
        `timers ${clock.waiting}`,
      ].join(", ");
    },
  };
}

type One = ReturnType<typeof machineOf>;

const rejection: Rejection = {
  ...{ version: "v", nonce: "1", code: 3, message: "no", at: 0, blamed: undefined, usesRest: false },
  ...{ carried: [two], before: undefined, after: emptyResourceSet(type) },
};

const events = {
  change: (one) => one.change(),
  "change, acknowledged at once"(one) {
    one.answersAtOnce();
    one.change();
  },
  "changed back": (one_) => one_.change(one),
  "passed to all": (one) => one.pass(),
  acknowledged: (one) => one.answer("synced"),
  rejected: (one) => one.answer("rejected"),
  "the soak time is over": ({ clock }) => clock.advance(soakMs),
  "the time is over": ({ clock }) => clock.advance(timeoutMs),
  halt: ({ machine }) => void machine.halt("why"),
  resume: ({ machine }) => void machine.resume(),
  "roll back": ({ machine }) => void machine.end("rolled-back"),
  promote: ({ machine }) => void machine.end("completed"),
} satisfies Readonly<Record<string, (one: One) => void>>;

/** By state, the events that lead to it. */
const reach = {
  new: [],
  "waiting for the first": ["change"],
  soaking: ["change", "acknowledged"],
  "waiting for all": ["change", "acknowledged", "the soak time is over"],
  halted: ["change", "halt"],
  "halted by a rejection": ["change", "rejected"],
  completed: ["change", "promote"],
  "rolled back": ["change", "roll back"],
  withdrawn: ["change", "changed back"],
} satisfies Readonly<Record<string, readonly (keyof typeof events)[]>>;

/** By state and event: what goes out, then how far the rollout is, and whom it waits for. */
const table: Readonly<Record<keyof typeof reach, Readonly<Partial<Record<keyof typeof events, string>>>>> = {
  new: {
    "change, acknowledged at once": "spread, started, spread, soaking, soaking 1, reaches 1, waits for 0, timers 1",
    change: "spread, started, spread, waiting 1, reaches 1, waits for 1, timers 1",
    "changed back": "withdrawn, spread, withdrawn 1, reaches 2, waits for 0, timers 0",
    "passed to all": "withdrawn, spread, withdrawn 1, reaches 2, waits for 0, timers 0",
  },
  "waiting for the first": {
    "change, acknowledged at once": "restarted, spread, soaking, soaking 1, reaches 1, waits for 0, timers 1",
    change: "restarted, spread, waiting 1, reaches 1, waits for 1, timers 1",
    "changed back": "withdrawn, spread, withdrawn 1, reaches 2, waits for 1, timers 0",
    "passed to all": "withdrawn, spread, withdrawn 1, reaches 2, waits for 1, timers 0",
    acknowledged: "soaking, soaking 1, reaches 1, waits for 0, timers 1",
    rejected: "halted, halted 1, reaches 1, waits for 0, timers 0",
    "the soak time is over": "waiting 1, reaches 1, waits for 1, timers 1",
    "the time is over": "halted, halted 1, reaches 1, waits for 1, timers 0",
    halt: "halted, halted 1, reaches 1, waits for 1, timers 0",
    resume: "waiting 1, reaches 1, waits for 1, timers 1",
    "roll back": "rolled-back, spread, rolled-back 1, reaches 2, waits for 1, timers 0",
    promote: "completed, spread, completed 1, reaches 2, waits for 1, timers 0",
  },
  soaking: {
    change: "restarted, spread, soaking, soaking 1, reaches 1, waits for 0, timers 1",
    "changed back": "withdrawn, spread, withdrawn 1, reaches 2, waits for 0, timers 0",
    "passed to all": "withdrawn, spread, withdrawn 1, reaches 2, waits for 0, timers 0",
    acknowledged: "soaking 1, reaches 1, waits for 0, timers 1",
    rejected: "halted, halted 1, reaches 1, waits for 0, timers 0",
    "the soak time is over": "advanced, spread, waiting 2, reaches 2, waits for 1, timers 1",
    halt: "halted, halted 1, reaches 1, waits for 0, timers 0",
    resume: "soaking 1, reaches 1, waits for 0, timers 1",
    "roll back": "rolled-back, spread, rolled-back 1, reaches 2, waits for 0, timers 0",
    promote: "completed, spread, completed 1, reaches 2, waits for 0, timers 0",
  },
  "waiting for all": {
    change: "restarted, spread, waiting 1, reaches 2, waits for 1, timers 1",
    "changed back": "withdrawn, spread, withdrawn 2, reaches 2, waits for 1, timers 0",
    "passed to all": "withdrawn, spread, withdrawn 2, reaches 2, waits for 1, timers 0",
    acknowledged: "soaking, soaking 2, reaches 2, waits for 0, timers 1",
    rejected: "halted, halted 2, reaches 2, waits for 0, timers 0",
    "the soak time is over": "waiting 2, reaches 2, waits for 1, timers 1",
    "the time is over": "halted, halted 2, reaches 2, waits for 1, timers 0",
    halt: "halted, halted 2, reaches 2, waits for 1, timers 0",
    resume: "waiting 2, reaches 2, waits for 1, timers 1",
    "roll back": "rolled-back, spread, rolled-back 2, reaches 2, waits for 1, timers 0",
    promote: "completed, spread, completed 2, reaches 2, waits for 1, timers 0",
  },
  halted: {
    change: "restarted, spread, waiting 1, reaches 1, waits for 1, timers 1",
    "changed back": "withdrawn, spread, withdrawn 1, reaches 2, waits for 1, timers 0",
    "passed to all": "withdrawn, spread, withdrawn 1, reaches 2, waits for 1, timers 0",
    acknowledged: "halted 1, reaches 1, waits for 0, timers 0",
    rejected: "halted 1, reaches 1, waits for 0, timers 0",
    "the soak time is over": "halted 1, reaches 1, waits for 1, timers 0",
    "the time is over": "halted 1, reaches 1, waits for 1, timers 0",
    halt: "halted 1, reaches 1, waits for 1, timers 0",
    resume: "resumed, waiting 1, reaches 1, waits for 1, timers 1",
    "roll back": "rolled-back, spread, rolled-back 1, reaches 2, waits for 1, timers 0",
    promote: "completed, spread, completed 1, reaches 2, waits for 1, timers 0",
  },
  "halted by a rejection": {
    change: "restarted, spread, halted, halted 1, reaches 1, waits for 0, timers 0",
    "changed back": "withdrawn, spread, withdrawn 1, reaches 2, waits for 0, timers 0",
    "passed to all": "withdrawn, spread, withdrawn 1, reaches 2, waits for 0, timers 0",
    acknowledged: "halted 1, reaches 1, waits for 0, timers 0",
    rejected: "halted 1, reaches 1, waits for 0, timers 0",
    "the soak time is over": "halted 1, reaches 1, waits for 0, timers 0",
    "the time is over": "halted 1, reaches 1, waits for 0, timers 0",
    halt: "halted 1, reaches 1, waits for 0, timers 0",
    resume: "resumed, waiting 1, reaches 1, waits for 0, timers 1",
    "roll back": "rolled-back, spread, rolled-back 1, reaches 2, waits for 0, timers 0",
    promote: "completed, spread, completed 1, reaches 2, waits for 0, timers 0",
  },
  completed: {
    "passed to all": "completed 1, reaches 2, waits for 1, timers 0",
    acknowledged: "completed 1, reaches 2, waits for 1, timers 0",
    rejected: "completed 1, reaches 2, waits for 1, timers 0",
    "the soak time is over": "completed 1, reaches 2, waits for 1, timers 0",
    "the time is over": "completed 1, reaches 2, waits for 1, timers 0",
    halt: "completed 1, reaches 2, waits for 1, timers 0",
    resume: "completed 1, reaches 2, waits for 1, timers 0",
    "roll back": "completed 1, reaches 2, waits for 1, timers 0",
    promote: "completed 1, reaches 2, waits for 1, timers 0",
  },
  "rolled back": {
    "passed to all": "rolled-back 1, reaches 2, waits for 1, timers 0",
    acknowledged: "rolled-back 1, reaches 2, waits for 1, timers 0",
    rejected: "rolled-back 1, reaches 2, waits for 1, timers 0",
    "the soak time is over": "rolled-back 1, reaches 2, waits for 1, timers 0",
    "the time is over": "rolled-back 1, reaches 2, waits for 1, timers 0",
    halt: "rolled-back 1, reaches 2, waits for 1, timers 0",
    resume: "rolled-back 1, reaches 2, waits for 1, timers 0",
    "roll back": "rolled-back 1, reaches 2, waits for 1, timers 0",
    promote: "rolled-back 1, reaches 2, waits for 1, timers 0",
  },
  withdrawn: {
    "passed to all": "withdrawn 1, reaches 2, waits for 1, timers 0",
    acknowledged: "withdrawn 1, reaches 2, waits for 1, timers 0",
    rejected: "withdrawn 1, reaches 2, waits for 1, timers 0",
    "the soak time is over": "withdrawn 1, reaches 2, waits for 1, timers 0",
    "the time is over": "withdrawn 1, reaches 2, waits for 1, timers 0",
    halt: "withdrawn 1, reaches 2, waits for 1, timers 0",
    resume: "withdrawn 1, reaches 2, waits for 1, timers 0",
    "roll back": "withdrawn 1, reaches 2, waits for 1, timers 0",
    promote: "withdrawn 1, reaches 2, waits for 1, timers 0",
  },
};

const entries = Object.entries as <Key extends string, Value>(
  of: Readonly<Partial<Record<Key, Value>>>,
) => [Key, Value][];

describe("a rollout of one server", () => {
  for (const [state, row] of entries(table))
    for (const [event, expected] of entries(row))
      it(`that is ${state}, ${event}: ${expected}`, () => {
        const machine = machineOf();
        for (const each of reach[state]) events[each](machine);
        machine.outcome();
        events[event](machine);
        assert.equal(machine.outcome(), expected);
      });
});
