import type { ResourceType } from "@xdskit/api";
import type { Rejection, Snapshot } from "@xdskit/protocol";
import type { PlannedRollout } from "../../contracts/group-preview.js";
import type { RolloutAhead } from "../../contracts/nodes/reported-stream.js";
import type { RolloutOutcome } from "../../contracts/rollouts/rollout-status.js";
import type { FullRolloutSettings } from "../../settings/rollout-settings.js";
import { inTime } from "../../stores/basics/in-time.js";
import { GroupQuarantine } from "./group-quarantine.js";
import type { GroupTargetsContext } from "./group-targets-context.js";
import type { Member } from "./members/member.js";
import { changesBetween, type KeyChange, type Override, type Overrides, overlaid } from "./members/overrides.js";
import { namedIn } from "./quarantine/last-acknowledged.js";
import { SharedCourse, type SharedTargets } from "./shared/shared-course.js";
import { RolloutMachine } from "./steps/rollout.js";
import type { RolloutChange } from "./steps/rollout-change.js";

/** How a change goes to the nodes: by steps, at once, or as a supplied resource does, which no rollout holds back. */
export type Spread = FullRolloutSettings | "at-once" | "on-demand";

/**
 * Decides which snapshot each stream of a group gets: the newest, except for changes that a rollout has not brought to
 * its node yet, and for contents in quarantine. A view is the newest snapshot with overrides, shared by all streams
 * with the same overrides; all other changes reach every stream at once.
 */
export class GroupTargets implements SharedTargets {
  readonly #context: GroupTargetsContext;
  readonly quarantine: GroupQuarantine;
  readonly #shared: SharedCourse | undefined;
  #rollout: RolloutMachine | undefined;
  /** Streams whose part in the rollout is being found out; of these, those for which the read has not begun. */
  readonly #undecided = new Set<Member>();
  readonly #coming: Member[] = [];
  /** They belong to the newest snapshot under them. A view that is kept for long would grow with each publication. */
  #views: { readonly newest: Snapshot; readonly laid: Map<string, Snapshot> } | undefined;

  constructor(context: GroupTargetsContext) {
    this.#context = context;
    const targets = this;
    this.quarantine = new GroupQuarantine(context, {
      get undo() {
        return targets.underWay?.undo;
      },
      spread: () => this.spread(),
      forgetViews: () => {
        this.#views = undefined;
      },
    });
    const { shared, group } = context;
    this.#shared = shared && new SharedCourse(this, (side) => shared.join(group, side));
  }

  /** From now on nodes are told what there is. */
  open(): void {
    this.#shared?.open();
    this.quarantine.rejectedChanged();
    this.quarantine.review();
  }

  newest(): Snapshot | undefined {
    return this.#context.newest();
  }

  /** The last rollout, in progress or over. */
  get rollout(): RolloutMachine | undefined {
    return this.#rollout;
  }

  /**
   * A member came. If it is a stream that was sent nothing yet, the record of the rollout under way is read first: a
   * moment ago another server may have reached its node, or heard that all of it is rolled back. Those that come
   * together share a read.
   */
  came(member: Member): void {
    this.#rollout?.came(member);
    const { shared } = this.#context;
    const isNew = member.client.status?.().every(({ sent }) => sent === undefined);
    if (shared === undefined || this.underWay === undefined || isNew !== true) return;
    this.#undecided.add(member);
    if (this.#coming.push(member) > 1) return;
    setImmediate(() => {
      const decided = this.#coming.splice(0);
      const end = () => {
        for (const each of decided) this.#undecided.delete(each);
        for (const { client } of decided) client.targetChanged();
      };
      inTime(() => shared.catchUp()).then(end, end);
    });
  }

  /** Undefined: it is being found out what the member gets. */
  snapshotFor(member: Member, newest: Snapshot): Snapshot | undefined {
    if (this.#undecided.size > 0 && this.#undecided.has(member)) return undefined;
    if (this.underWay === undefined && this.quarantine.contents.isEmpty) return newest;
    return this.#view(this.underWay?.reaches(member) ?? true, member.order, newest);
  }

  /** The rollout under way that has not reached the member; undefined: none. */
  rolloutAheadOf(member: Member, newest: Snapshot): RolloutAhead | undefined {
    const { underWay } = this;
    if (underWay === undefined || underWay.reaches(member)) return undefined;
    return { at: underWay.at, snapshot: this.#view(true, member.order, newest) };
  }

  /** All snapshots that streams have now, besides the newest. */
  *snapshots(): Iterable<Snapshot> {
    const newest = this.newest();
    if (newest === undefined) return;
    for (const order of [0, ...this.quarantine.contents.orders]) {
      yield this.#view(true, order, newest);
      if (this.underWay !== undefined) yield this.#view(false, order, newest);
    }
  }

  /** How changes of the newest snapshot would go to the nodes; undefined: at once, since nobody is there. */
  planned(changes: Iterable<KeyChange>, { steps }: FullRolloutSettings): PlannedRollout | undefined {
    const { underWay } = this;
    const isAlone = this.#shared === undefined;
    if (underWay === undefined) return isAlone && this.isDeserted() ? undefined : { steps, underWay, isEnd: false };
    return { steps, underWay: underWay.at, isEnd: underWay.brings.isUndoneBy(changes) };
  }

  /** The newest snapshot has changed. */
  newestChanged(before: Snapshot, after: Snapshot, how: Spread): void {
    this.newestChangedBy(changesBetween(before, after), how);
  }

  /** The same, by these changes of it. */
  newestChangedBy(changes: Iterable<KeyChange>, how: Spread): void {
    const underWay = this.underWay;
    if (this.#shared !== undefined) {
      if (how !== "on-demand") this.#shared.newestChanged(this.quarantine.effective(changes), how);
    } else if (how === "at-once") underWay?.pass(changes);
    else if (how !== "on-demand" && (underWay !== undefined || !this.isDeserted())) {
      this.#rollout = underWay ?? this.#newRollout();
      this.#rollout.change(changes, how);
    }
    // A rollout that begins may have been asked for views before it held the change back.
    this.#views = undefined;
    this.quarantine.review();
    this.quarantine.rejectedChanged();
  }

  /** A member ends. It can be asked for the last time. */
  ends(member: Member): void {
    this.quarantine.ends(member);
    this.#rollout?.left(member);
  }

  /** `isWhole`: the response had the client's whole target. */
  rejected(member: Member, type: ResourceType, rejection: Rejection, isWhole: boolean): void {
    this.#rollout?.rejected(member, type, namedIn(rejection, isWhole));
    this.quarantine.rejected(member, type, rejection, isWhole);
  }

  /** Puts each resource of the rollout in progress into quarantine for all; returns false if there is none. */
  rollBack(): boolean {
    const { underWay, quarantine } = this;
    if (underWay === undefined || this.newest() === undefined) return false;
    const added = quarantine.addRolledBack(underWay.undo.values(), underWay.status().rejections.at(-1));
    underWay.end("rolled-back");
    quarantine.began(added);
    return true;
  }

  keepFromAll(undo: Iterable<Override>): void {
    this.quarantine.keepFromAll(undo, this.underWay?.status().rejections.at(-1));
  }

  renew(id: number, change?: RolloutChange): RolloutMachine {
    this.#rollout?.close();
    this.#rollout = this.#newRollout(id, change);
    if (change !== undefined) this.spread();
    return this.#rollout;
  }

  /** Forgets the group, in which nobody is left. */
  close(): void {
    this.#shared?.close();
    this.quarantine.close();
    this.#rollout?.close();
  }

  get underWay(): RolloutMachine | undefined {
    return this.#rollout?.isUnderWay ? this.#rollout : undefined;
  }

  #view(isReached: boolean, order: number, newest: Snapshot): Snapshot {
    if (this.#views?.newest !== newest) this.#views = { newest, laid: new Map() };
    const { laid } = this.#views;
    const key = `${isReached} ${this.quarantine.contents.classOf(order)}`;
    let found = laid.get(key);
    if (found === undefined) {
      const overrides: Overrides = new Map(isReached ? [] : this.underWay?.undo);
      this.quarantine.contents.lay(overrides, newest, order);
      found = overlaid(newest, overrides);
      laid.set(key, found);
    }
    return found;
  }

  #newRollout(id = this.#context.nextId(), change?: RolloutChange): RolloutMachine {
    const { group, clock, members, shared } = this.#context;
    const context = {
      id,
      group,
      clock,
      members,
      led: shared && (() => shared.nudge()),
      isKeptFrom: ({ order }: Member) => {
        const newest = this.newest();
        return newest !== undefined && this.quarantine.contents.keeps(rollout.undo, newest, order);
      },
      spread: () => this.spread(),
      report: (outcome: RolloutOutcome) => this.#context.rolloutIs(outcome, rollout),
    };
    const rollout: RolloutMachine = new RolloutMachine(context, change);
    return rollout;
  }

  /** Whether the group has no node that a change could break, or that could prove that it works. */
  isDeserted(): boolean {
    for (const { client } of this.#context.members) if (client.standing !== undefined) return false;
    return true;
  }

  spread(): void {
    this.#views = undefined;
    this.quarantine.review();
    this.#context.spread();
  }
}
