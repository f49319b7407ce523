import type { Snapshot } from "@xdskit/protocol";
import type { FullRolloutSettings } from "../../../settings/rollout-settings.js";
import { ended, isOver } from "../course/course.js";
import { type KeyChange, type Override, resourceIn } from "../members/overrides.js";
import { preparedFor, type RolloutRecord } from "../records/record.js";
import type { RolloutMachine } from "../steps/rollout.js";
import type { RolloutChange } from "../steps/rollout-change.js";
import { BroughtChange, ChangePatience, changesSince, recordAfter } from "./brought-change.js";
import { nobodyThere } from "./count-json.js";
import { type CourseStep, type HeldChange, nextStep, type RecordToWrite, stepOnceAligned } from "./course-step.js";
import type { GroupShare, GroupSide, Proposal, ServerCount } from "./group-side.js";
import type { RejectedContent } from "./rejected-contents.js";

/** The contents that a group keeps from its members, as its shared course sees them. */
export interface KeptFromMembers {
  /** Whether something that was rolled back is in quarantine. */
  keepsRolledBack(): boolean;
  /** Of what was rolled back, only this stays in quarantine. */
  onlyFromAll(ids: { has(id: string): boolean }): void;
  /** Clients of other servers rejected other contents now: these are kept from clients that come here. */
  rejectedChanged(): void;
  /** What clients of this server rejected, as other servers get it. */
  ownRejected(): readonly RejectedContent[];
}

/** A group's targets, as its shared course sees them. */
export interface SharedTargets {
  newest(): Snapshot | undefined;
  /** Carries out what is under way here. */
  readonly underWay: RolloutMachine | undefined;
  /** Begins to carry out a change from the start. */
  renew(id: number, change?: RolloutChange): RolloutMachine;
  /** Whether no node acknowledges. */
  isDeserted(): boolean;
  /** Each of these goes into quarantine for all, as it is in the newest. */
  keepFromAll(undo: Iterable<Override>): void;
  readonly quarantine: KeptFromMembers;
  spread(): void;
}

/**
 * Brings together what a group of this server holds back, and what the record of its rollout says. The change of the
 * record may be this server's; or this server is behind, and waits; or it is ahead, and proposes its own.
 */
export class SharedCourse implements GroupSide {
  readonly #share: GroupShare;
  readonly #targets: SharedTargets;
  /**
   * `shut`: nodes are told nothing yet. `late`: they are, but the rollout under way, or what it is about, is not read.
   */
  #state: "shut" | "late" | "open" = "shut";
  #settings: FullRolloutSettings | undefined;
  /** What the machine brings. */
  readonly #brought = new BroughtChange();
  /** The record that the machine carried out last; undefined: it has a part in none yet. */
  #followed: Pick<RolloutRecord, "id" | "writes"> | undefined;
  /** The last rollout that this server had a part in. */
  #lastId = 0;
  /** What nodes have that are not reached: what they had here, or what a record says (see `preparedFor`). */
  #basis: { readonly kind: "own" } | { readonly kind: "record"; readonly prepared: string } = { kind: "own" };
  readonly #patience = new ChangePatience();
  /** The rolled-back change that is in quarantine. */
  #back: { readonly kind: "none" } | { readonly kind: "kept"; readonly change: string } = { kind: "none" };

  constructor(targets: SharedTargets, join: (side: GroupSide) => GroupShare) {
    this.#targets = targets;
    this.#share = join(this);
  }

  /** From now on nodes are told what there is: what the rollout under way has not reached is held back before. */
  open(): void {
    if (this.#state !== "shut") return;
    const { record, isRead } = this.#share;
    this.#state = isRead ? "open" : "late";
    if (record === undefined) return;
    this.#began(record);
    this.#follow();
  }

  /** A change came here. At once: it is for all. */
  newestChanged(changes: Iterable<KeyChange>, how: FullRolloutSettings | "at-once"): void {
    const known = this.#targets.underWay;
    if (how === "at-once") {
      if (known === undefined) return;
      known.pass(changes);
      this.#brought.is(known);
    } else {
      this.#settings = how;
      const machine = known ?? this.#begin();
      machine.change(changes, how);
      this.#brought.is(machine);
    }
    this.#brought.isFresh = true;
    this.#follow();
  }

  recordChanged(): void {
    if (this.#state === "shut") return;
    const { record } = this.#share;
    if (this.#state === "late" && record !== undefined) this.#began(record);
    this.#follow();
  }

  rejectedChanged(): void {
    if (this.#state !== "shut") this.#targets.quarantine.rejectedChanged();
  }

  ownRejected(): readonly RejectedContent[] {
    return this.#targets.quarantine.ownRejected();
  }

  proposal(record: RolloutRecord | undefined): Proposal | undefined {
    const wanted = this.#follow();
    const machine = this.#targets.underWay;
    if (wanted === undefined || machine === undefined) return undefined;
    const now = Date.now();
    if (wanted === "withdraw")
      return record && { next: { ...record, course: ended(record.course, "withdrawn"), since: now } };
    const settings = this.#settings ?? record?.course.settings;
    if (settings === undefined) return undefined;
    const next = recordAfter(record, this.#brought.change, settings, now);
    return { next, list: [...machine.brings.list()] };
  }

  needsPast({ course, change }: RolloutRecord): boolean {
    if (course.phase !== "rolled-back") return !isOver(course);
    return !this.#isBack(change) || this.#targets.quarantine.keepsRolledBack();
  }

  count(record: RolloutRecord): ServerCount | undefined {
    // Its nodes are told nothing yet.
    if (this.#state === "shut") return nobodyThere(record.course);
    const machine = this.#targets.underWay;
    if (machine === undefined) return this.#isPast(record) ? nobodyThere(record.course) : undefined;
    if (this.#brought.change !== record.change || this.#followed?.id !== record.id) return undefined;
    return { ...machine.count, isDeserted: this.#targets.isDeserted() };
  }

  close(): void {
    this.#share.leave();
  }

  /** All that the record's change brings is for all here: nothing has to be proven. */
  #isPast({ change }: RolloutRecord): boolean {
    // Mostly the change comes in a moment, and its list need not be read.
    if (!this.#patience.isOver(change)) return false;
    const [prepared, newest] = [this.#share.prepared(), this.#targets.newest()];
    if (prepared === undefined || newest === undefined) return false;
    return [...prepared.values()].every((each) => resourceIn(newest, each)?.version === each.wanted);
  }

  /** The first record that it knows. */
  #began(record: RolloutRecord): void {
    this.#state = "open";
    this.#lastId = isOver(record.course) ? record.id : record.id - 1;
    if (!isOver(record.course)) this.#seed(record);
  }

  /** Holds back what the rollout has not reached, as those servers do that were there before. */
  #seed(record: RolloutRecord): void {
    const newest = this.#targets.newest();
    if (newest === undefined) return;
    const prepared = this.#share.prepared();
    if (prepared === undefined) {
      this.#state = "late";
      return;
    }
    this.#lastId = record.id;
    const changes = changesSince(prepared, newest);
    if (changes.length === 0) return;
    // Changes may have come here before the record was known.
    const machine = this.#targets.underWay ?? this.#begin();
    machine.change(changes, this.#settings ?? record.course.settings);
    this.#brought.is(machine);
    this.#brought.isFresh = this.#brought.change !== record.change;
    this.#targets.spread();
  }

  #begin(): RolloutMachine {
    const { record } = this.#share;
    this.#brought.forget();
    this.#basis = { kind: "own" };
    this.#followed = undefined;
    const machine = this.#targets.renew((record?.id ?? 0) + 1);
    // Whom the rollout has reached gets what comes on top at once.
    if (record !== undefined && !isOver(record.course)) this.#followRecord(record, machine);
    return machine;
  }

  /** Compares what is held back here with the record, and goes on from there. Returns the record to write. */
  #follow(): RecordToWrite | undefined {
    const { record } = this.#share;
    const machine = this.#targets.underWay;
    if (record?.course.phase === "rolled-back") this.#keepBack(record);
    if (machine === undefined) return undefined;
    const wanted = this.#take(nextStep(record, this.#heldBack(machine)), machine);
    if (wanted !== undefined) this.#share.propose();
    return wanted;
  }

  #heldBack({ undo }: RolloutMachine): HeldChange {
    return this.#brought.heldBack({ isNothing: undo.size === 0, id: this.#followed?.id, lastId: this.#lastId });
  }

  /** Returns the record to write. */
  #take(step: CourseStep, machine: RolloutMachine): RecordToWrite | undefined {
    switch (step.kind) {
      case "wait":
        return undefined;
      case "propose":
        return step.wanted;
      case "end":
        machine.end("withdrawn");
        return undefined;
      case "carry-out":
        this.#carryOut(step.record, machine);
        return undefined;
      case "align":
        if (!this.#isAligned(step.record, machine)) return undefined;
        return this.#take(stepOnceAligned(step.record, this.#heldBack(machine)), machine);
      case "outlive":
        return this.#outlive(step, machine);
    }
  }

  #outlive(
    { record, isAhead }: Extract<CourseStep, { kind: "outlive" }>,
    machine: RolloutMachine,
  ): RecordToWrite | undefined {
    if (record.course.phase === "completed" && !this.#isAligned(record, machine)) return undefined;
    this.#lastId = record.id;
    if (machine.undo.size === 0) {
      machine.end("completed");
      return undefined;
    }
    this.#renew(machine);
    return isAhead ? "begin" : undefined;
  }

  /** What is held back here is based on what the record says; false: that is being read. */
  #isAligned(record: RolloutRecord, machine: RolloutMachine): boolean {
    const basis = { kind: "record", prepared: preparedFor(record) } as const;
    if (this.#basis.kind === "record" && this.#basis.prepared === basis.prepared) return true;
    const prepared = this.#share.prepared();
    if (prepared === undefined) return false;
    this.#basis = basis;
    if (!machine.brings.rebase(prepared)) return true;
    this.#brought.is(machine);
    this.#targets.spread();
    return true;
  }

  #carryOut(record: RolloutRecord, known: RolloutMachine): void {
    const { id = record.id } = this.#followed ?? {};
    const machine = id === record.id ? known : this.#renew(known);
    this.#brought.known();
    if (record.course.phase === "rolled-back" && machine.isUnderWay) {
      this.#back = { kind: "kept", change: record.change };
      this.#targets.keepFromAll(machine.undo.values());
    }
    this.#followRecord(record, machine);
  }

  #followRecord(record: RolloutRecord, machine: RolloutMachine): void {
    if (this.#followed?.id === record.id && this.#followed.writes === record.writes) return;
    this.#followed = record;
    this.#lastId = record.id;
    machine.follow(record);
  }

  /** Another rollout brings the same: whom the one before has reached is not reached any more. */
  #renew({ brings }: RolloutMachine): RolloutMachine {
    this.#followed = undefined;
    return this.#targets.renew((this.#share.record?.id ?? 0) + 1, brings);
  }

  #isBack(change: string): boolean {
    return this.#back.kind === "kept" && this.#back.change === change;
  }

  /** Contents that were rolled back stay away from all nodes, also after a restart. */
  #keepBack(record: RolloutRecord): void {
    const newest = this.#targets.newest();
    if (newest === undefined || this.#isBack(record.change)) return;
    if (this.#targets.underWay !== undefined && this.#brought.change === record.change) return;
    const prepared = this.#share.prepared();
    if (prepared === undefined) return;
    this.#back = { kind: "kept", change: record.change };
    const back = [...prepared.values()].filter((each) => resourceIn(newest, each)?.version === each.wanted);
    this.#targets.quarantine.onlyFromAll(prepared);
    this.#targets.keepFromAll(back);
  }
}
