import { type Clock, mostKept, type ResourceType } from "@xdskit/api";
import type { Rejection } from "@xdskit/protocol";
import type { RolloutAt } from "../../contracts/nodes/node-status.js";
import {
  type RolloutOutcome,
  type RolloutRejection,
  type RolloutState,
  type RolloutStatus,
  shownAtMost,
} from "../../contracts/rollouts/rollout-status.js";
import { type FullRolloutSettings, fullSettings } from "../../settings/rollout-settings.js";
import {
  begun,
  type Count,
  type Course,
  decide,
  dueIn,
  type Ending,
  ended,
  halted,
  isOver,
  newCourse,
  resumed,
} from "../course/course.js";
import { createShare, nobody, positionOf } from "../course/share.js";
import type { Member } from "../members/member.js";
import type { KeyChange, Overrides } from "../members/overrides.js";
import { type Concern, RolloutChange } from "./rollout-change.js";

/** The part of a group that a rollout needs. */
interface RolloutContext {
  readonly id: number;
  readonly group: string;
  readonly clock: Clock;
  /** Others decide: they hear that the members may say something else. Undefined: it decides by itself. */
  readonly led?: (() => void) | undefined;
  /** All streams and polls of the group. */
  readonly members: Iterable<Member>;
  /** Whether a quarantine keeps some of the change from the member, so that it does not acknowledge the change. */
  isKeptFrom(member: Member): boolean;
  /** Some members get another snapshot now. */
  spread(): void;
  report(outcome: RolloutOutcome): void;
}

/** A course that others decided, with times in milliseconds since 1970. */
interface FollowedCourse {
  readonly course: Course;
  readonly id: number;
  readonly startedAt: number;
  readonly since: number;
}

interface Noted extends RolloutRejection {
  readonly about: Concern;
}

/**
 * Carries out one change that goes through a group by steps, or several that came one on top of the other. It knows the
 * members that have been reached, and their answers. `course.ts` decides from these how it goes on.
 */
export class RolloutMachine {
  readonly #context: RolloutContext;
  readonly #change: RolloutChange;
  readonly #rejections = new Map<string, Noted>();
  #startedAt = new Date();
  #id: number;
  #course: Course = newCourse(fullSettings({ steps: [] }));
  #since = this.#startedAt;
  /** The status at the end, which does not change any more. */
  #last: RolloutStatus | undefined;
  #share = createShare(nobody);
  readonly #reached = new Set<Member>();
  /** Reached members that have not answered yet. */
  readonly #pending = new Set<Member>();
  /** Reached members that acknowledged the change. Others answered something else, or never answer. */
  readonly #acknowledged = new Set<Member>();
  /** Members that are not reached, of nodes that came while a step by count had room. */
  readonly #came = new Set<Member>();
  #added = 0;
  /** The course at which the last step began. */
  #begun: Course | undefined;
  #stopTimer: (() => void) | undefined;
  #isDue = false;
  #isDeciding = false;

  constructor(context: RolloutContext, change = new RolloutChange()) {
    this.#context = context;
    this.#change = change;
    this.#id = context.id;
  }

  get isUnderWay(): boolean {
    return !isOver(this.#course);
  }

  /** The contents that members that are not reached have in place of the newest. */
  get undo(): Overrides {
    return this.#change.undo;
  }

  reaches(member: Member): boolean {
    return !this.isUnderWay || this.#reached.has(member);
  }

  /** Its change. Another rollout may take it over. */
  get brings(): RolloutChange {
    return this.#change;
  }

  /** The counts of its members now. The lists are made when they are asked for. */
  get count(): Count {
    const { list, turn } = this.#course;
    return {
      list,
      turn,
      pending: this.#pending.size,
      acknowledged: this.#acknowledged.size,
      added: this.#added,
      rejected: this.#rejections.size,
      waitsFor: () => nodesOf(this.#pending),
      rejections: () => [...this.#rejections.values()],
      candidates: () => Array.from(nodesOf(this.#choice()), positionOf),
    };
  }

  /** The group has a new snapshot. Reached nodes get it, too, and the rollout starts again at the first step. */
  change(changes: Iterable<KeyChange>, settings: FullRolloutSettings): void {
    this.#change.add(changes);
    for (const [node, { about }] of this.#rejections) if (!this.#change.wants(about)) this.#rejections.delete(node);
    if (this.#context.led !== undefined || this.#isWithdrawn()) return;
    this.#take(begun(this.#course, settings));
    this.#goOn();
  }

  /** Some resources changed for all nodes at once. */
  pass(changes: Iterable<KeyChange>): void {
    this.#change.pass(changes);
    if (this.#context.led === undefined) this.#isWithdrawn();
  }

  /** Carries out what others have decided; what came in between may be left out. */
  follow({ course, id, startedAt, since }: FollowedCourse): void {
    this.#id = id;
    this.#startedAt = new Date(startedAt);
    this.#take(course, new Date(since));
    this.#context.led?.();
  }

  came(member: Member): void {
    if (!this.isUnderWay) return;
    const acknowledges = member.client.standing !== undefined;
    if (this.#share.has(member.node)) {
      this.#reached.add(member);
      if (acknowledges) this.#pending.add(member);
    } else if (acknowledges && this.#course.reach.room > 0) {
      this.#came.add(member);
      this.#goOn();
    }
  }

  left(member: Member): void {
    this.#came.delete(member);
    this.#reached.delete(member);
    this.#acknowledged.delete(member);
    if (this.#pending.delete(member)) this.#goOn();
  }

  /** The standing of a member may have changed. */
  progressed(member: Member): void {
    if (!this.isUnderWay || !this.#reached.has(member) || this.#acknowledged.has(member)) return;
    this.#note(member);
    this.#goOn();
  }

  rejected(member: Member, type: ResourceType, rejection: Rejection): void {
    if (!this.isUnderWay || !this.#reached.has(member)) return;
    const about = this.#change.concernOf(type, rejection);
    // Nodes come and go with ids of their own choice, and all may reject a halted change.
    const most = Math.max(mostKept, this.#course.settings.haltAfter);
    if (about.size === 0 || this.#rejections.size >= most) return;
    const { version, code, message } = rejection;
    const node = member.node.id;
    this.#rejections.set(node, { node, type: type.name, version, code, message, at: new Date(), about });
    this.#acknowledged.delete(member);
    this.#goOn();
  }

  end(how: Ending): boolean {
    return this.isUnderWay && this.#take(ended(this.#course, how));
  }

  halt(reason: string): boolean {
    return this.isUnderWay && this.#course.phase !== "halted" && this.#take(halted(this.#course, reason));
  }

  resume(): boolean {
    if (this.#course.phase !== "halted") return false;
    this.#take(resumed(this.#course, this.#rejections.size));
    this.#goOn();
    return true;
  }

  status(): RolloutStatus {
    return this.#last ?? this.#statusIn(this.at.state, this.#since, this.#course.reason);
  }

  /** Where it is. Costs nothing. */
  get at(): RolloutAt {
    const { phase, step, settings } = this.#course;
    const state = phase === "choosing" ? "waiting" : phase;
    return { group: this.#context.group, state, step: step + 1, steps: settings.steps.length };
  }

  /** Ends all waits. */
  close(): void {
    this.#stopTimer?.();
  }

  #isWithdrawn(): boolean {
    return this.undo.size === 0 && this.end("withdrawn");
  }

  /** Takes the course as far as the members' answers allow. */
  #goOn(): void {
    this.#context.led?.();
    if (this.#context.led !== undefined || this.#isDeciding) return;
    this.#isDeciding = true;
    try {
      for (;;) {
        const next = decide(this.#course, [this.count], this.#isDue);
        if (next === undefined) break;
        this.#take(next);
      }
    } finally {
      this.#isDeciding = false;
    }
  }

  /** Carries out a decision. */
  #take(next: Course, since = new Date()): true {
    const before = this.#course;
    const isAnew = next.round !== before.round;
    const isPhase = isAnew || next.phase !== before.phase;
    this.#course = next;
    if (isPhase) {
      this.#since = since;
      this.#arm();
    }
    if (isOver(next)) this.#last = this.status();
    const isStep = !isOver(next) && next.isChosen && !isStepOf(this.#begun, next);
    // It may come to a rollout that has reached somebody elsewhere.
    const isJoined = this.#begun === undefined && next.reach !== before.reach;
    if (isStep || isJoined) this.#beginStep(next);
    else if (next.reach.positions.length > before.reach.positions.length) this.#widen(next);
    const outcome = outcomeOf(before, next, this.#begun);
    if (isStep) this.#begun = next;
    if (outcome !== undefined) this.#context.report(outcome);
    if (isStep || isJoined || isOver(next)) this.#context.spread();
    if (isAnew) this.#askAnew();
    return true;
  }

  #arm(): void {
    this.#stopTimer?.();
    this.#isDue = false;
    const due = this.#context.led === undefined ? dueIn(this.#course) : undefined;
    if (due === undefined) return;
    this.#stopTimer = this.#context.clock.after(due, () => {
      this.#isDue = true;
      this.#goOn();
    });
  }

  /** Reaches the members of the step that begins. */
  #beginStep({ reach }: Course): void {
    this.#share = createShare(reach);
    this.#came.clear();
    const before = this.#reached.size;
    for (const member of this.#context.members) if (this.#share.has(member.node)) this.#reached.add(member);
    this.#added = this.#reached.size - before;
  }

  /** Reaches new members that the step takes. They have been told nothing yet, and ask after this call. */
  #widen({ reach }: Course): void {
    this.#share.widen(reach);
    for (const member of this.#came) {
      if (!this.#share.has(member.node)) continue;
      this.#came.delete(member);
      this.#reached.add(member);
      this.#pending.add(member);
    }
  }

  #askAnew(): void {
    this.#pending.clear();
    this.#acknowledged.clear();
    for (const member of this.#reached) this.#note(member);
  }

  /** Reads the answer of a reached member that has not acknowledged the change. */
  #note(member: Member): void {
    const standing = member.client.standing?.();
    if (standing === "pending") this.#pending.add(member);
    else this.#pending.delete(member);
    // A node that rejects may reject something older; then it has answered all of this and rejected none of it.
    const isAnswer = standing === "settled" || (standing === "rejected" && !this.#rejections.has(member.node.id));
    if (isAnswer && !this.#context.isKeptFrom(member)) this.#acknowledged.add(member);
  }

  #choice(): Iterable<Member> {
    const { phase, step, settings } = this.#course;
    if (phase !== "choosing") return this.#came;
    if ("match" in (settings.steps[step] ?? { match: {} })) return [];
    return [...this.#context.members].filter(({ client }) => client.standing !== undefined);
  }

  #statusIn(state: RolloutState, since: Date, reason: string): RolloutStatus {
    const { group, members } = this.#context;
    const id = this.#id;
    const all = nodesOf([...members].filter(isStream)).size;
    const held = state === "completed" ? 0 : all - nodesOf([...this.#reached].filter(isStream)).size;
    const pending = nodesOf(this.#pending);
    return {
      id,
      group,
      state,
      reason,
      step: this.#course.step + 1,
      steps: this.#course.settings.steps,
      startedAt: this.#startedAt,
      since,
      changed: this.undo.size,
      resources: first(this.undo.values(), ({ type, key }) => ({ type: type.name, name: key })),
      nodes: { reached: all - held, pending: pending.size, rejected: this.#rejections.size, held },
      waitsFor: first(pending, (node) => node),
      rejections: first(this.#rejections.values(), ({ about: _, ...told }) => told),
    };
  }
}

function isStream({ kind }: Member): boolean {
  return kind === "stream";
}

function nodesOf(members: Iterable<Member>): Set<string> {
  const ids = new Set<string>();
  for (const { node } of members) ids.add(node.id);
  return ids;
}

function isStepOf(begun: Course | undefined, { list, step }: Course): boolean {
  return begun?.list === list && begun.step === step;
}

/** The outcome to report of a course that follows another; undefined: none. Courses in between may be left out. */
function outcomeOf(before: Course, next: Course, begun: Course | undefined): RolloutOutcome | undefined {
  if (next.phase === "choosing") return undefined;
  const isHere = isOver(next) || next.phase === "halted";
  if (isHere && next.phase !== "waiting" && next.phase !== before.phase) return next.phase;
  if (next.round !== before.round && before.phase === "halted") return "resumed";
  if (next.round !== before.round) {
    if (begun === undefined) return "started";
    return begun.list === next.list ? "advanced" : "restarted";
  }
  return next.phase === before.phase || next.phase === "waiting" ? undefined : next.phase;
}

function first<From, To>(from: Iterable<From>, shown: (each: From) => To): To[] {
  const list: To[] = [];
  for (const each of from) {
    if (list.length === shownAtMost) break;
    list.push(shown(each));
  }
  return list;
}
