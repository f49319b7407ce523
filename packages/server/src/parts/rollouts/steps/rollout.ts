import { type Clock, maxKept, type ResourceType } from "@xdskit/api";
import type { Rejection } from "@xdskit/protocol";
import type { RolloutAt } from "../../../contracts/nodes/node-status.js";
import {
  type RolloutOutcome,
  type RolloutState,
  type RolloutStatus,
  shownAtMost,
} from "../../../contracts/rollouts/rollout-status.js";
import { type FullRolloutSettings, fullSettings } from "../../../settings/rollout-settings.js";
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
import type { Member } from "../members/member.js";
import type { KeyChange, Overrides } from "../members/overrides.js";
import { RolloutChange } from "./rollout-change.js";
import { TriedMembers } from "./tried-members.js";

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

/** The time that its phase has, by `dueIn`. */
type PhaseTime = { readonly kind: "none" | "due" } | { readonly kind: "running"; readonly stop: () => void };

/**
 * - `waits`: for members, for time, or for others.
 * - `decides`: how it goes on; what is heard meanwhile counts in the next round of that.
 * - `over`: the status does not change any more.
 */
type MachineState = { readonly kind: "waits" | "decides" } | { readonly kind: "over"; readonly status: RolloutStatus };

/**
 * Carries out one change that goes through a group by steps, or several that came one on top of the other. It knows the
 * members that have been reached, and their answers. `course.ts` decides from these how it goes on.
 */
export class RolloutMachine {
  readonly #context: RolloutContext;
  readonly #change: RolloutChange;
  readonly #tried: TriedMembers;
  #startedAt = new Date();
  #id: number;
  #course: Course = newCourse(fullSettings({ steps: [] }));
  #since = this.#startedAt;
  #state: MachineState = { kind: "waits" };
  /** The course at which the last step began. */
  #begun: Course | undefined;
  #time: PhaseTime = { kind: "none" };

  constructor(context: RolloutContext, change = new RolloutChange()) {
    this.#context = context;
    this.#change = change;
    this.#id = context.id;
    this.#tried = new TriedMembers(context.members, (member) => context.isKeptFrom(member));
  }

  get isUnderWay(): boolean {
    return this.#state.kind !== "over";
  }

  /** The contents that members that are not reached have in place of the newest. */
  get undo(): Overrides {
    return this.#change.undo;
  }

  reaches(member: Member): boolean {
    return !this.isUnderWay || this.#tried.isReached(member);
  }

  /** Its change. Another rollout may take it over. */
  get brings(): RolloutChange {
    return this.#change;
  }

  /** The counts of its members now. The lists are made when they are asked for. */
  get count(): Count {
    return this.#tried.count(this.#course);
  }

  /** The group has a new snapshot. Reached nodes get it, too, and the rollout starts again at the first step. */
  change(changes: Iterable<KeyChange>, settings: FullRolloutSettings): void {
    this.#change.add(changes);
    this.#tried.forget((about) => !this.#change.wants(about));
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
    if (this.isUnderWay && this.#tried.came(member, this.#course.reach.room > 0)) this.#goOn();
  }

  left(member: Member): void {
    if (this.#tried.left(member)) this.#goOn();
  }

  /** The standing of a member may have changed. */
  progressed(member: Member): void {
    if (this.isUnderWay && this.#tried.progressed(member)) this.#goOn();
  }

  rejected(member: Member, type: ResourceType, rejection: Rejection): void {
    if (!this.isUnderWay || !this.#tried.isReached(member)) return;
    const about = this.#change.concernOf(type, rejection);
    // Nodes come and go with ids of their own choice, and all may reject a halted change.
    const most = Math.max(maxKept, this.#course.settings.haltAfter);
    if (about.size === 0 || this.#tried.rejections.size >= most) return;
    const { version, code, message } = rejection;
    this.#tried.rejected(member, { type: type.name, version, code, message, at: new Date(), about });
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
    this.#take(resumed(this.#course, this.#tried.rejections.size));
    this.#goOn();
    return true;
  }

  status(): RolloutStatus {
    if (this.#state.kind === "over") return this.#state.status;
    return this.#statusIn(this.at.state, this.#since, this.#course.reason);
  }

  /** Where it is. Costs nothing. */
  get at(): RolloutAt {
    const { phase, step, settings } = this.#course;
    const state = phase === "choosing" ? "waiting" : phase;
    return { group: this.#context.group, state, step: step + 1, steps: settings.steps.length };
  }

  /** Ends all waits. */
  close(): void {
    if (this.#time.kind === "running") this.#time.stop();
    this.#time = { kind: "none" };
  }

  #isWithdrawn(): boolean {
    return this.undo.size === 0 && this.end("withdrawn");
  }

  /** Takes the course as far as the members' answers allow. */
  #goOn(): void {
    this.#context.led?.();
    if (this.#context.led !== undefined || this.#state.kind !== "waits") return;
    const deciding: MachineState = { kind: "decides" };
    this.#state = deciding;
    try {
      for (;;) {
        const next = decide(this.#course, [this.count], this.#time.kind === "due");
        if (next === undefined) break;
        this.#take(next);
      }
    } finally {
      if (this.#state === deciding) this.#state = { kind: "waits" };
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
    if (isOver(next)) this.#state = { kind: "over", status: this.status() };
    const isStep = !isOver(next) && next.isChosen && !isStepOf(this.#begun, next);
    // It may come to a rollout that has reached somebody elsewhere.
    const isJoined = this.#begun === undefined && next.reach !== before.reach;
    const isWider = next.reach.positions.length > before.reach.positions.length;
    let added: readonly Member[] = [];
    if (isStep || isJoined) this.#tried.beginStep(next.reach);
    else if (isWider) added = this.#tried.widen(next.reach);
    const outcome = outcomeOf(before, next, this.#begun);
    if (isStep) this.#begun = next;
    if (outcome !== undefined) this.#context.report(outcome);
    // Where others decide, members that the step takes on top may have been sent what was before.
    if (isStep || isJoined || isOver(next) || added.length > 0) this.#context.spread();
    if (isAnew) this.#tried.askAnew();
    else this.#tried.ask(added);
    return true;
  }

  #arm(): void {
    this.close();
    const due = this.#context.led === undefined ? dueIn(this.#course) : undefined;
    if (due === undefined) return;
    const stop = this.#context.clock.after(due, () => {
      this.#time = { kind: "due" };
      this.#goOn();
    });
    this.#time = { kind: "running", stop };
  }

  #statusIn(state: RolloutState, since: Date, reason: string): RolloutStatus {
    const { rejections } = this.#tried;
    const { all, reached, pending } = this.#tried.nodes();
    const held = state === "completed" ? 0 : all - reached;
    return {
      id: this.#id,
      group: this.#context.group,
      state,
      reason,
      step: this.#course.step + 1,
      steps: this.#course.settings.steps,
      startedAt: this.#startedAt,
      since,
      changed: this.undo.size,
      resources: first(this.undo.values(), ({ type, key }) => ({ type: type.name, name: key })),
      nodes: { reached: all - held, pending: pending.size, rejected: rejections.size, held },
      waitsFor: first(pending, (node) => node),
      rejections: first(rejections.values(), ({ about: _, ...rest }) => rest),
    };
  }
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
