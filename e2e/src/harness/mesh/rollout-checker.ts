import type { Had } from "./staged-nodes.js";

/** The record of a rollout, as servers share it. What else is in it does not matter here. */
export interface StepRecord {
  readonly group: string;
  readonly id: number;
  /** Counted up with each record of the group. */
  readonly writes: number;
  readonly course: {
    readonly phase: string;
    readonly reason: string;
    /** From 0. */
    readonly step: number;
    readonly isSoaked: boolean;
    readonly reach: { readonly positions: readonly number[] };
  };
  /** Both in milliseconds since 1970. */
  readonly startedAt: number;
  readonly since: number;
}

/** What a rollout has to do: steps by count, and one for all others. */
export interface Plan {
  /** The number of nodes of each step, those of the steps before among them. */
  readonly counts: readonly number[];
  readonly soakMs: number;
}

/**
 * Holds all records of one group against what is promised: each follows the one before, no step is taken twice or left
 * out, each is soaked for its whole time, reached nodes remain reached, and each rollout is completed before the next.
 * Returns what is broken, for people.
 */
export function brokenRollouts(records: readonly StepRecord[], plan: Plan): readonly string[] {
  const broken: string[] = [];
  for (const [index, record] of records.entries()) {
    const before = records[index - 1];
    const say = (what: string) => broken.push(`rollout ${record.id}, record ${record.writes}: ${what}`);
    if (record.course.reason !== "") say(`it halted: ${record.course.reason}`);
    if (before === undefined) continue;
    if (record.writes !== before.writes + 1) say(`it follows record ${before.writes}`);
    if (record.id !== before.id) newRollout(before, record, say);
    else nextRecord(before, record, plan, say);
  }
  return broken;
}

type Say = (what: string) => unknown;

function newRollout(before: StepRecord, { id, course: { step, phase } }: StepRecord, say: Say): void {
  if (id !== before.id + 1) say(`it follows rollout ${before.id}`);
  if (before.course.phase !== "completed") say(`the one before is ${before.course.phase}`);
  if (step !== 0 || phase !== "choosing") say(`it begins with ${phase} at step ${step}`);
}

function nextRecord(before: StepRecord, record: StepRecord, { counts, soakMs }: Plan, say: Say): void {
  const [from, to] = [before.course, record.course];
  const gone = from.reach.positions.filter((position) => !to.reach.positions.includes(position));
  if (gone.length > 0) say(`${gone.length} nodes are not reached any more`);
  const isEnd = to.phase === "completed";
  if (from.phase === "completed") say(`it goes on with ${to.phase} after its end`);
  if (to.step !== from.step || isEnd) {
    if (isEnd ? from.step !== counts.length : to.step !== from.step + 1)
      say(`step ${to.step}, ${to.phase} follows step ${from.step}`);
    if (!from.isSoaked && from.step < counts.length) say(`step ${from.step} was not soaked`);
    if (from.phase !== "waiting") say(`it leaves step ${from.step} while it is ${from.phase}`);
  }
  // A step that had too few nodes takes those that come while it soaks.
  const isWider = to.phase === "soaking" && to.reach.positions.length > from.reach.positions.length;
  if (from.phase === "soaking" && !isWider) {
    if (to.phase !== "waiting") say(`${to.phase} follows soaking`);
    // Clocks of this machine tick in milliseconds, and may be set by some.
    if (record.since - before.since < soakMs - 50) say(`it was soaked for ${record.since - before.since} ms only`);
  }
}

/**
 * Holds what nodes had against the records: never more nodes have the new content than the step allows that the records
 * are at by then, and none has older content again. Rollouts bring the contents from 2 on, one after the other.
 */
export function brokenSteps(records: readonly StepRecord[], had: readonly Had[], { counts }: Plan): readonly string[] {
  const broken: string[] = [];
  const now = new Map<string, number>();
  for (const { node, content, at } of had) {
    const before = now.get(node) ?? 0;
    if (content < before)
      broken.push(`${node} had content ${content} after ${before}, at ${new Date(at).toISOString()}`);
    now.set(node, Math.max(before, content));
  }
  const ids = [...new Set(records.map(({ id }) => id))];
  for (const [index, id] of ids.entries()) {
    const of = records.filter((record) => record.id === id);
    const times = new Map<string, number>();
    for (const { node, content, at } of had) if (content === index + 2 && !times.has(node)) times.set(node, at);
    for (const [step, count] of counts.entries()) {
      const next = of.find(({ course }) => course.step > step || course.phase === "completed")?.since ?? Infinity;
      const early = [...times.values()].filter((at) => at < next).length;
      if (early > count) broken.push(`rollout ${id}: ${early} nodes had it at step ${step} of ${count} nodes`);
    }
    const started = of[0]?.startedAt ?? 0;
    for (const [node, at] of times) if (at < started) broken.push(`rollout ${id}: ${node} had it before it began`);
  }
  return broken;
}
