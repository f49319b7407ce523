import type { RolloutRejection } from "../../../contracts/rollouts/rollout-status.js";
import type { FullRolloutSettings } from "../../../settings/rollout-settings.js";
import { nobody, type Reach, reachesMore, reachOf, withMore } from "./share.js";

/** The phase of a rollout. `choosing`: its step waits for candidates. The others are those of `RolloutState`. */
export type Phase = "choosing" | "waiting" | "soaking" | "halted" | Ending;

/** How a rollout ends. */
export type Ending = "completed" | "rolled-back" | "withdrawn";

/** The decisions about a rollout, as plain values that can be stored. */
export interface Course {
  readonly settings: FullRolloutSettings;
  readonly phase: Phase;
  /** The reason why it halted; empty if it did not. */
  readonly reason: string;
  /** From 0. */
  readonly step: number;
  /** The number of its change, counted up with each one that comes on top. */
  readonly list: number;
  /** Counted up with each order to the servers. Their counts name the order that they answer. */
  readonly turn: number;
  /** Counted up whenever all reached members must be asked again. */
  readonly round: number;
  /** Whether the step has chosen its nodes. A rollout that is resumed need not choose again. */
  readonly isChosen: boolean;
  /** Whether the step found nodes that no step before had reached. By labels it does not know: see `Count.added`. */
  readonly hasFresh?: boolean | undefined;
  /** The soak time of this step is over. */
  readonly isSoaked: boolean;
  /** The rejections that do not count any more, since somebody resumed the rollout in spite of them. */
  readonly forgiven: number;
  readonly reach: Reach;
}

/** The counts of one server's members in a rollout. */
export interface Count {
  /** The server of these counts, if several carry out the rollout. */
  readonly server?: string | undefined;
  readonly list: number;
  /** The order that it has carried out. */
  readonly turn: number;
  /** Reached members that still have to answer. */
  readonly pending: number;
  /** Reached members that answered, and use the change. */
  readonly acknowledged: number;
  /** How many members the step added. */
  readonly added: number;
  /** The node ids of the pending ones. */
  waitsFor(): ReadonlySet<string>;
  /** How many nodes rejected it. */
  readonly rejected: number;
  rejections(): readonly RolloutRejection[];
  /** Positions of nodes that acknowledge, for a step to choose from; while there is room, of those that came since. */
  candidates(): readonly number[];
}

const start: Omit<Course, "settings"> = {
  phase: "waiting",
  reason: "",
  step: 0,
  list: 0,
  turn: 0,
  round: 0,
  forgiven: 0,
  reach: nobody,
  isChosen: false,
  isSoaked: false,
};

/** Before its first change. */
export function newCourse(settings: FullRolloutSettings): Course {
  return { ...start, settings };
}

/** The course that begins, or begins again with a change on top. Reached members remain reached. */
export function begun(course: Course, settings: FullRolloutSettings): Course {
  const { list, turn, round, reach } = course;
  const kept = { ...reach, room: 0 };
  return { ...start, settings, phase: "choosing", list: list + 1, turn: turn + 1, round, reach: kept };
}

export function halted(course: Course, reason: string): Course {
  return { ...course, phase: "halted", reason };
}

/** The course that goes on with its step. `forgiven` rejections count no more. */
export function resumed(course: Course, forgiven: number): Course {
  const { turn, round, isChosen } = course;
  return {
    ...course,
    phase: isChosen ? "waiting" : "choosing",
    reason: "",
    forgiven,
    turn: turn + 1,
    round: round + 1,
  };
}

export function ended(course: Course, how: Ending): Course {
  const step = Math.min(course.step, Math.max(0, course.settings.steps.length - 1));
  return { ...course, phase: how, reason: "", step };
}

export function isOver({ phase }: Course): boolean {
  return phase === "completed" || phase === "rolled-back" || phase === "withdrawn";
}

/**
 * How many milliseconds after the start of its phase `decide` must be told that the time is over. Undefined: the phase
 * has no time.
 */
export function dueIn({ phase, settings }: Course): number | undefined {
  if (phase === "soaking") return settings.soakMs;
  return phase === "choosing" || phase === "waiting" ? settings.timeoutMs : undefined;
}

/**
 * The next course, from the counts of all servers. Undefined: it stays as it is. One call goes one step at most.
 * `isDue`: the time of `dueIn` is over.
 */
export function decide(course: Course, counts: readonly Count[], isDue: boolean): Course | undefined {
  if (isOver(course)) return undefined;
  const isAnswered = counts.length > 0 && counts.every(({ turn }) => turn === course.turn);
  if (course.phase === "choosing") return isAnswered ? chosen(course, counts) : late(course, counts, isDue);
  // Everybody keeps what they have until somebody resumes it.
  if (course.phase === "halted") return undefined;
  const rejection = rejectionReason(course, counts);
  if (rejection !== undefined) return halted(course, rejection);
  const wider = isAnswered && course.reach.room > 0 ? withMore(course.reach, candidatesOf(counts)) : course.reach;
  if (wider !== course.reach) return { ...course, reach: wider, hasFresh: true, turn: course.turn + 1 };
  if (course.phase === "soaking") return isDue ? { ...course, phase: "waiting", isSoaked: true } : undefined;
  return isAnswered && isAcknowledged(counts) ? goneOn(course, counts) : late(course, counts, isDue);
}

function chosen(course: Course, counts: readonly Count[]): Course {
  const step = course.settings.steps[course.step];
  if (step === undefined) return ended(course, "completed");
  const candidates = candidatesOf(counts);
  const reach = reachOf(step, candidates, course.reach);
  const hasFresh = reachesMore(course.reach, reach, candidates);
  return {
    ...course,
    phase: "waiting",
    isChosen: true,
    hasFresh,
    reach,
    turn: course.turn + 1,
    round: course.round + 1,
  };
}

function goneOn(course: Course, counts: readonly Count[]): Course {
  // Servers know only what they added themselves: the nodes of one that died are at others now.
  const addsNobody = course.step > 0 && course.hasFresh !== true && counts.every(({ added }) => added === 0);
  if (!course.isSoaked && !addsNobody && course.settings.soakMs > 0) return { ...course, phase: "soaking" };
  const step = course.step + 1;
  if (step >= course.settings.steps.length) return ended({ ...course, step }, "completed");
  return { ...course, phase: "choosing", step, turn: course.turn + 1, isChosen: false, isSoaked: false };
}

function isAcknowledged(counts: readonly Count[]): boolean {
  return counts.every(({ pending }) => pending === 0) && counts.some(({ acknowledged }) => acknowledged > 0);
}

function candidatesOf(counts: readonly Count[]): readonly number[] {
  const [only, ...others] = counts;
  return only !== undefined && others.length === 0 ? only.candidates() : counts.flatMap((each) => each.candidates());
}

function rejectionReason({ list, forgiven, settings }: Course, counts: readonly Count[]): string | undefined {
  const about = counts.filter((each) => each.list === list);
  // An upper bound: a node with streams to two servers may be counted twice.
  if (about.reduce((sum, { rejected }) => sum + rejected, 0) - forgiven < settings.haltAfter) return undefined;
  const all = about.flatMap((each) => each.rejections());
  const count = new Set(all.map(({ node }) => node)).size - forgiven;
  if (count < settings.haltAfter) return undefined;
  const last = all.reduce((a, b) => (b.at >= a.at ? b : a));
  const nodes = count === 1 ? `node ${JSON.stringify(last.node)}` : `${count} nodes`;
  return `${nodes} rejected it: ${last.message}`;
}

function late(course: Course, counts: readonly Count[], isDue: boolean): Course | undefined {
  if (!isDue) return undefined;
  const waited = `in ${duration(course.settings.timeoutMs)}`;
  const behind = counts.find(({ turn, server }) => server !== undefined && turn !== course.turn);
  if (behind !== undefined)
    return halted(
      course,
      `server ${JSON.stringify(behind.server)} does not have this change, or did not answer ${waited}`,
    );
  const nodes = new Set(counts.flatMap((each) => [...each.waitsFor()]));
  const [first] = nodes;
  if (first === undefined) return halted(course, `no node of step ${course.step + 1} acknowledged it ${waited}`);
  const others = nodes.size > 1 ? ` and ${nodes.size - 1} more` : "";
  return halted(course, `node ${JSON.stringify(first)}${others} did not acknowledge it ${waited}`);
}

function duration(ms: number): string {
  return ms < 1_000 ? `${ms} ms` : `${ms / 1_000} s`;
}
