import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Resource } from "@xdskit/api";
import { emptySnapshot, updateSnapshot } from "@xdskit/protocol";
import { idOf } from "../../../basics/id-of.js";
import { fullSettings } from "../../../settings/rollout-settings.js";
import { manualClock } from "../../../testing/basics/manual-clock.js";
import { clusterResource } from "../../../testing/test-resources.js";
import { begun, type Ending, ended, newCourse } from "../course/course.js";
import { changeOf, type RolloutRecord } from "../records/record.js";
import { RolloutMachine } from "../steps/rollout.js";
import type { RolloutChange } from "../steps/rollout-change.js";
import type { Prepared } from "./group-side.js";
import { SharedCourse, type SharedTargets } from "./shared-course.js";

const settings = fullSettings({ steps: [{ count: 1 }] });
const contents = { 1: clusterResource("a", "1"), 2: clusterResource("a", "2"), 3: clusterResource("a", "3") } as const;
type Content = keyof typeof contents;
const { type } = contents[1];
const id = idOf({ type, key: "a" });

const textOf = (resource: Resource | undefined) =>
  Object.entries(contents).find(([, { version }]) => version === resource?.version)?.[0] ?? "none";

/** A group that has cluster `a` with content 1 at first. `told` has what went out. */
function groupOf() {
  const told: string[] = [];
  let now: Content = 1;
  let record: RolloutRecord | undefined;
  let prepared: Prepared | undefined;
  let machine: RolloutMachine | undefined;
  let keepsRolledBack = false;
  const newest = () => updateSnapshot(emptySnapshot(), { upsert: [contents[now]] });
  const context = {
    ...{ group: "g", clock: manualClock(), members: [], led() {}, spread() {}, isKeptFrom: () => false },
    report: (outcome: string) => void told.push(outcome),
  };
  const targets: SharedTargets = {
    newest,
    get underWay() {
      return machine?.isUnderWay ? machine : undefined;
    },
    renew(next: number, change?: RolloutChange) {
      told.push(`machine ${next}`);
      machine = new RolloutMachine({ ...context, id: next }, change);
      return machine;
    },
    isDeserted: () => false,
    keepFromAll() {
      keepsRolledBack = true;
      told.push("keep");
    },
    quarantine: {
      keepsRolledBack: () => keepsRolledBack,
      onlyFromAll() {},
      rejectedChanged() {},
      ownRejected: () => [],
    },
    spread: () => void told.push("spread"),
  };
  const course = new SharedCourse(targets, () => ({
    isRead: true,
    get record() {
      return record;
    },
    prepared: () => prepared,
    propose() {},
    leave() {},
  }));
  const proposed = () => {
    const phase = course.proposal(record)?.next.course.phase;
    return phase === undefined ? "nothing" : phase === "withdrawn" ? "withdraw" : "begin";
  };
  const counted = () => {
    const count = record && course.count(record);
    return count === undefined ? "nothing" : count.isDeserted ? "nobody" : "nodes";
  };
  return {
    course,
    comes(content: Content, how: typeof settings | "at-once" = settings): void {
      const before = contents[now];
      now = content;
      course.newestChanged([{ type, key: "a", before, after: contents[now] }], how);
    },
    /** A record of a rollout from content 1 to another one. `isRead`: its list is read, too. */
    heard(wanted: Content, how: Ending | "choosing", isRead = true): void {
      const change = { key: "a", from: contents[1].version, wanted: contents[wanted].version };
      const underWay = begun(newCourse(settings), settings);
      record = {
        ...{ group: "g", id: 1, writes: (record?.writes ?? 0) + 1, past: [], startedAt: 0, since: 0 },
        course: how === "choosing" ? underWay : ended(underWay, how),
        change: changeOf([{ type: type.typeUrl, ...change }]),
      };
      const resource = contents[how === "completed" ? wanted : 1];
      prepared = isRead ? new Map([[id, { type, ...change, resource }]]) : undefined;
      course.recordChanged();
    },
    /** What came of it: what goes out, then what nodes that are not reached get, and what is proposed and counted. */
    outcome(): string {
      const override = targets.underWay?.undo.get(id);
      const gets = `gives ${textOf(override === undefined ? contents[now] : override.resource)}`;
      const past = record !== undefined && course.needsPast(record) ? ["need the past"] : [];
      const proposes = `propose ${proposed()}`;
      return [...told.splice(0), gets, proposes, `count ${counted()}`, ...past].join(", ");
    },
  };
}

type Group = ReturnType<typeof groupOf>;

const events = {
  open: ({ course }) => course.open(),
  "2 comes": (group) => group.comes(2),
  "2 comes at once": (group) => group.comes(2, "at-once"),
  "1 comes again": (group) => group.comes(1),
  "2 is begun": (group) => group.heard(2, "choosing"),
  "2 is completed": (group) => group.heard(2, "completed"),
  "2 is rolled back": (group) => group.heard(2, "rolled-back"),
  "2 is withdrawn": (group) => group.heard(2, "withdrawn"),
  "3 is begun": (group) => group.heard(3, "choosing"),
  "3 is begun, but not read": (group) => group.heard(3, "choosing", false),
  "3 is completed": (group) => group.heard(3, "completed"),
  "3 is rolled back": (group) => group.heard(3, "rolled-back"),
} satisfies Readonly<Record<string, (group: Group) => void>>;

type Event = keyof typeof events;

/** By state, the events that lead to it. */
const reach = {
  shut: [],
  "shut, with a rollout that is not read": ["3 is begun, but not read"],
  "shut, with a rollout": ["2 comes at once", "2 is begun"],
  late: ["2 comes at once", "3 is begun, but not read", "open"],
  open: ["open"],
  "holding its own back": ["open", "2 comes"],
  "carrying out": ["open", "2 comes", "2 is begun"],
  completed: ["open", "2 comes", "2 is begun", "2 is completed"],
  "rolled back": ["open", "2 comes", "2 is begun", "2 is rolled back"],
  "behind the others": ["open", "2 comes", "2 is begun", "3 is begun"],
  "ahead of the others": ["open", "3 is begun", "2 comes"],
  "holding nothing back any more": ["open", "3 is begun", "2 comes", "1 comes again", "3 is begun, but not read"],
} satisfies Readonly<Record<string, readonly Event[]>>;

type CourseAt = keyof typeof reach;

/** By state and event: what goes out; then what nodes get that are not reached, and what is proposed and counted. */
const table: Readonly<Record<CourseAt, Readonly<Partial<Record<Event, string>>>>> = {
  shut: {
    open: "gives 1, propose nothing, count nothing",
    "2 comes": "machine 1, gives 1, propose begin, count nothing",
    "2 comes at once": "gives 2, propose nothing, count nothing",
    "2 is begun": "gives 1, propose nothing, count nobody, need the past",
    "2 is rolled back": "keep, gives 1, propose nothing, count nobody, need the past",
    "3 is begun": "gives 1, propose nothing, count nobody, need the past",
  },
  "shut, with a rollout that is not read": {
    open: "gives 1, propose nothing, count nothing, need the past",
    "2 comes": "machine 2, gives 1, propose nothing, count nobody, need the past",
    "3 is begun": "gives 1, propose nothing, count nobody, need the past",
  },
  "shut, with a rollout": {
    open: "machine 2, spread, gives 1, propose nothing, count nodes, need the past",
    "2 comes": "machine 2, withdrawn, gives 2, propose nothing, count nobody, need the past",
    "2 is completed": "gives 2, propose nothing, count nobody",
  },
  late: {
    open: "gives 2, propose nothing, count nothing, need the past",
    "2 is begun": "machine 2, spread, gives 1, propose nothing, count nodes, need the past",
    "2 is completed": "gives 2, propose nothing, count nothing",
    "2 is rolled back": "keep, gives 2, propose nothing, count nothing, need the past",
    "3 is begun": "machine 2, spread, gives 1, propose begin, count nothing, need the past",
    "3 is begun, but not read": "gives 2, propose nothing, count nothing, need the past",
    "1 comes again": "machine 2, gives 2, propose nothing, count nothing, need the past",
  },
  open: {
    "2 comes": "machine 1, gives 1, propose begin, count nothing",
    "2 comes at once": "gives 2, propose nothing, count nothing",
    "2 is begun": "gives 1, propose nothing, count nothing, need the past",
    "2 is completed": "gives 1, propose nothing, count nothing",
    "2 is rolled back": "keep, gives 1, propose nothing, count nothing, need the past",
    "2 is withdrawn": "gives 1, propose nothing, count nothing",
    "3 is begun": "gives 1, propose nothing, count nothing, need the past",
  },
  "holding its own back": {
    open: "gives 1, propose begin, count nothing",
    "2 comes at once": "withdrawn, gives 2, propose nothing, count nothing",
    "1 comes again": "withdrawn, gives 1, propose nothing, count nothing",
    "2 is begun": "gives 1, propose nothing, count nodes, need the past",
    "2 is completed": "completed, gives 2, propose nothing, count nothing",
    "2 is rolled back": "keep, rolled-back, gives 2, propose nothing, count nothing, need the past",
    "2 is withdrawn": "machine 2, gives 1, propose begin, count nothing",
    "3 is begun": "gives 1, propose begin, count nothing, need the past",
    "3 is begun, but not read": "gives 1, propose nothing, count nothing, need the past",
    "3 is completed": "spread, machine 2, gives 3, propose begin, count nothing",
    "3 is rolled back": "keep, machine 2, gives 1, propose begin, count nothing, need the past",
  },
  "carrying out": {
    open: "gives 1, propose nothing, count nodes, need the past",
    "2 comes at once": "gives 2, propose withdraw, count nothing, need the past",
    "1 comes again": "gives 1, propose withdraw, count nothing, need the past",
    "2 is begun": "gives 1, propose nothing, count nodes, need the past",
    "2 is completed": "completed, gives 2, propose nothing, count nothing",
    "2 is rolled back": "keep, rolled-back, gives 2, propose nothing, count nothing, need the past",
    "2 is withdrawn": "gives 1, propose nothing, count nodes",
    "3 is begun": "gives 1, propose nothing, count nothing, need the past",
    "3 is begun, but not read": "gives 1, propose nothing, count nothing, need the past",
    "3 is completed": "spread, machine 2, gives 3, propose begin, count nothing",
    "3 is rolled back": "keep, gives 1, propose nothing, count nothing, need the past",
  },
  completed: {
    open: "gives 2, propose nothing, count nothing",
    "1 comes again": "machine 2, gives 2, propose begin, count nothing",
    "2 is completed": "gives 2, propose nothing, count nothing",
    "3 is rolled back": "keep, gives 2, propose nothing, count nothing, need the past",
  },
  "rolled back": {
    open: "gives 2, propose nothing, count nothing, need the past",
    "1 comes again": "machine 2, gives 2, propose begin, count nothing, need the past",
    "2 is rolled back": "gives 2, propose nothing, count nothing, need the past",
    "3 is rolled back": "keep, gives 2, propose nothing, count nothing, need the past",
  },
  "behind the others": {
    "2 comes at once": "withdrawn, gives 2, propose nothing, count nothing, need the past",
    "1 comes again": "withdrawn, gives 1, propose nothing, count nothing, need the past",
    "2 is begun": "gives 1, propose nothing, count nodes, need the past",
    "3 is begun": "gives 1, propose nothing, count nothing, need the past",
    "3 is begun, but not read": "gives 1, propose nothing, count nothing, need the past",
    "3 is completed": "spread, machine 2, gives 3, propose begin, count nothing",
    "3 is rolled back": "keep, gives 1, propose nothing, count nothing, need the past",
  },
  "ahead of the others": {
    "2 comes at once": "withdrawn, gives 2, propose nothing, count nothing, need the past",
    "1 comes again": "withdrawn, gives 1, propose nothing, count nothing, need the past",
    "2 is begun": "gives 1, propose nothing, count nodes, need the past",
    "2 is withdrawn": "machine 2, gives 1, propose begin, count nothing",
    "3 is begun": "gives 1, propose begin, count nothing, need the past",
    "3 is begun, but not read": "gives 1, propose begin, count nothing, need the past",
    "3 is completed": "spread, machine 2, gives 3, propose begin, count nothing",
    "3 is rolled back": "keep, machine 2, gives 1, propose begin, count nothing, need the past",
  },
  "holding nothing back any more": {
    "2 comes": "machine 2, gives 1, propose nothing, count nothing, need the past",
    "3 is begun": "gives 1, propose nothing, count nothing, need the past",
  },
};

const entries = Object.entries as <Key extends string, Value>(
  of: Readonly<Partial<Record<Key, Value>>>,
) => [Key, Value][];

describe("the shared course of a group", () => {
  for (const [state, row] of entries(table))
    for (const [event, expected] of entries(row))
      it(`that is ${state}, ${event}: ${expected}`, () => {
        const group = groupOf();
        for (const each of reach[state]) events[each](group);
        group.outcome();
        events[event](group);
        assert.equal(group.outcome(), expected);
        // Asked again, it stays at that.
        group.course.recordChanged();
        assert.equal(group.outcome(), expected.replace(/^.*(?=gives)/, ""));
      });
});
