import type { Resource, ResourceType, Version } from "@xdskit/api";
import type { Rejection, Snapshot } from "@xdskit/protocol";
import { idOf } from "../../basics/id-of.js";
import type { PlannedRollout } from "../../contracts/group-preview.js";
import type { RolloutAhead } from "../../contracts/nodes/reported-stream.js";
import type { RolloutOutcome } from "../../contracts/rollouts/rollout-status.js";
import type { FullRolloutSettings } from "../../settings/rollout-settings.js";
import type { GroupTargetsContext } from "./group-targets-context.js";
import type { Member } from "./members/member.js";
import {
  changesBetween,
  type KeyChange,
  type Keyed,
  type Override,
  type Overrides,
  overlaid,
  resourceIn,
} from "./members/overrides.js";
import { LastAcknowledged, namedIn } from "./quarantine/last-acknowledged.js";
import { Quarantine, type QuarantineEntry } from "./quarantine/quarantine.js";
import { reviewMs, Verdicts } from "./quarantine/verdicts.js";
import { contentId, contentIdOf, quarantineEntries, rejectedContentOf } from "./rejected-entries.js";
import type { RejectedContent } from "./shared/rejected-contents.js";
import { SharedCourse, type SharedTargets } from "./shared/shared-course.js";
import type { SharedRolloutHub } from "./shared/shared-rollouts.js";
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
  readonly #quarantine = new Quarantine();
  #lastAcknowledged: LastAcknowledged | undefined;
  readonly #verdicts = new Verdicts();
  readonly #shared: SharedCourse | undefined;
  #rollout: RolloutMachine | undefined;
  /** They belong to the newest snapshot under them. A view that is kept for long would grow with each publication. */
  #views: { readonly newest: Snapshot; readonly laid: Map<string, Snapshot> } | undefined;
  /** What other servers say, as far as it was looked at. */
  readonly #heard = new Set<string>();
  /** Entries that were just lifted from quarantine by hand, and not reported yet. */
  #lifted: QuarantineEntry[] = [];
  #cancelReview: (() => void) | undefined;

  constructor(context: GroupTargetsContext) {
    this.#context = context;
    this.#lastAcknowledged = context.keepsLastGood ? new LastAcknowledged() : undefined;
    const { shared, group } = context;
    this.#shared = shared && new SharedCourse(this, (side) => shared.join(group, side));
  }

  /** From now on nodes are told what there is. */
  open(): void {
    this.#shared?.open();
    this.rejectedHeard();
    this.#settle();
  }

  /** The setting to keep rejected contents from later streams changed. If it is off now, their quarantine ends. */
  settingsChanged(): void {
    const { keepsLastGood } = this.#context;
    if (keepsLastGood === (this.#lastAcknowledged !== undefined)) return;
    this.#lastAcknowledged = keepsLastGood ? new LastAcknowledged() : undefined;
    if (keepsLastGood) {
      this.#shared?.rejectedHeard();
      return;
    }
    this.#heard.clear();
    const rejected = [...this.quarantine].filter(({ cause }) => cause === "rejected");
    const ended = this.#quarantine.delete(rejected);
    if (ended.length > 0) this.#end(ended);
  }

  newest(): Snapshot | undefined {
    return this.#context.newest();
  }

  /** The last rollout, in progress or over. */
  get rollout(): RolloutMachine | undefined {
    return this.#rollout;
  }

  get quarantine(): Iterable<QuarantineEntry> {
    return this.#quarantine.entries();
  }

  snapshotFor(member: Member, newest: Snapshot): Snapshot {
    if (this.underWay === undefined && this.#quarantine.isEmpty) return newest;
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
    for (const order of [0, ...this.#quarantine.orders]) {
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
  changed(before: Snapshot, after: Snapshot, how: Spread): void {
    this.changedBy(changesBetween(before, after), how);
  }

  /** The same, by these changes of it. */
  changedBy(changes: Iterable<KeyChange>, how: Spread): void {
    const underWay = this.underWay;
    if (this.#shared !== undefined) {
      if (how !== "on-demand") this.#shared.changed(this.#effective(changes), how);
    } else if (how === "at-once") underWay?.pass(changes);
    else if (how !== "on-demand" && (underWay !== undefined || !this.isDeserted())) {
      this.#rollout = underWay ?? this.#newRollout();
      this.#rollout.change(changes, how);
    }
    // A rollout that begins may have been asked for views before it held the change back.
    this.#views = undefined;
    this.#settle();
    this.rejectedHeard();
  }

  /** A member ends. It can be asked for the last time. */
  ends(member: Member): void {
    this.#lastAcknowledged?.note(member);
    this.#rollout?.left(member);
  }

  /** `isWhole`: the response held the client's whole target. */
  rejected(member: Member, type: ResourceType, given: Rejection, isWhole: boolean): void {
    const rejection = namedIn(given, isWhole);
    this.#rollout?.rejected(member, type, rejection);
    if (this.#lastAcknowledged === undefined) return;
    const contents = this.#lastAcknowledged.contentsOf(type, rejection, member, isWhole);
    const isServed = (content: Resource) => this.#isServed(content, content.version);
    // The rejection may be about an outdated content, or one in quarantine already; if not, the next one shows it.
    const isOpen = (content: Resource) => isServed(content) && !this.#quarantine.find(content, content.version);
    if (rejection.blamed !== undefined || contents.every(isOpen)) {
      const { members, lastOrder } = this.#context;
      const suspects = this.#lastAcknowledged.suspectsAmong(contents.filter(isServed), rejection, member, members);
      const added = this.#quarantine.add(quarantineEntries(suspects, rejection, member, lastOrder));
      if (added.length > 0) {
        this.#quarantineIs("began", added);
        this.spread();
      }
    }
    const now = this.#context.clock.now();
    for (const content of contents) {
      const entry = this.#quarantine.find(content, content.version);
      if (entry?.cause === "rejected") this.#verdicts.rejects(entry, member.node.id, now);
    }
    this.#reviewLater();
  }

  /** Puts each resource of the rollout in progress into quarantine for all; returns false if there is none. */
  rollBack(): boolean {
    const newest = this.newest();
    const underWay = this.underWay;
    if (underWay === undefined || newest === undefined) return false;
    const added = this.#keepFromAll(underWay.undo.values(), newest);
    underWay.end("rolled-back");
    this.#quarantineIs("began", added);
    return true;
  }

  #quarantineIs(outcome: "began" | "ended", entries: readonly QuarantineEntry[]): void {
    this.#context.quarantineIs(outcome, entries);
    this.#context.shared?.tellRejected(this.#context.group);
  }

  ownRejected(): readonly RejectedContent[] {
    const own = [...this.quarantine].filter(({ cause, isElsewhere }) => cause === "rejected" && !isElsewhere);
    return own.map(rejectedContentOf);
  }

  /** What clients of other servers rejected is kept from those that come here. */
  rejectedHeard(): void {
    const { shared, group } = this.#context;
    if (shared === undefined || this.#lastAcknowledged === undefined) return;
    const said = new Map(shared.rejected(group).map((each) => [contentId(each), each]));
    if (said.size === 0 && this.#heard.size === 0) return;
    for (const id of this.#heard) if (!said.has(id)) this.#heard.delete(id);
    const over = [...this.quarantine].filter((entry) => entry.isElsewhere && !said.has(contentIdOf(entry)));
    const ended = this.#quarantine.delete(over);
    if (ended.length > 0) this.#end(ended);
    for (const [id, each] of said) {
      if (this.#heard.has(id) || !this.#isTarget(each)) continue;
      this.#heard.add(id);
      void this.#keepRejected(shared, each, this.#context.lastOrder).catch((error: unknown) => {
        // The next publication tries again.
        this.#heard.delete(id);
        shared.failed(error);
      });
    }
  }

  /** `after`: it is kept from members that come later than this one, also while its replacement is read. */
  async #keepRejected(shared: SharedRolloutHub, rejected: RejectedContent, after: number): Promise<void> {
    const { type: typeUrl, key, version, instead, node, message, since } = rejected;
    const good = instead === undefined ? undefined : await shared.content(typeUrl, key, instead);
    const type = this.newest()?.sets.get(typeUrl)?.type;
    if (type === undefined || !this.#heard.has(contentId(rejected)) || !this.#isTarget(rejected)) return;
    if (instead !== undefined && good === undefined) return;
    const about = { cause: "rejected", suspicion: undefined, after, isElsewhere: true } as const;
    const entry = { ...about, type, key, version, instead: good, since: new Date(since), node, message };
    const added = this.#quarantine.add([entry]);
    if (added.length === 0) return;
    this.#quarantineIs("began", added);
    this.spread();
  }

  #isTarget({ type: typeUrl, key, version }: RejectedContent): boolean {
    const type = this.newest()?.sets.get(typeUrl)?.type;
    return type !== undefined && this.#isServed({ type, key }, version);
  }

  /** Some stream has this content, or must get it. Undefined: it has none there. */
  #isServed(about: Keyed, version: Version | undefined): boolean {
    const newest = this.newest();
    if (newest === undefined) return false;
    const held = this.underWay?.undo.get(idOf(about));
    return resourceIn(newest, about)?.version === version || (held !== undefined && held.resource?.version === version);
  }

  #keepFromAll(undo: Iterable<Override>, newest: Snapshot): readonly QuarantineEntry[] {
    const { node = "", message = "" } = this.underWay?.status().rejections.at(-1) ?? {};
    const about = { cause: "rolled-back", suspicion: undefined, after: -1, since: new Date(), node, message } as const;
    const entries = Array.from(undo, ({ type, key, resource }) => {
      return { type, key, version: resourceIn(newest, { type, key })?.version, instead: resource, ...about };
    });
    return this.#quarantine.add(entries);
  }

  renew(id: number, change?: RolloutChange): RolloutMachine {
    this.#rollout?.close();
    this.#rollout = this.#newRollout(id, change);
    if (change !== undefined) this.spread();
    return this.#rollout;
  }

  keepFromAll(undo: Iterable<Override>): void {
    const newest = this.newest();
    const added = newest === undefined ? [] : this.#keepFromAll(undo, newest);
    if (added.length === 0) return;
    this.#quarantineIs("began", added);
    this.spread();
  }

  keepsRolledBack(): boolean {
    return [...this.quarantine].some(({ cause }) => cause === "rolled-back");
  }

  onlyFromAll(ids: { has(id: string): boolean }): void {
    const others = [...this.quarantine].filter((each) => each.cause === "rolled-back" && !ids.has(idOf(each)));
    const over = this.#quarantine.delete(others);
    if (over.length > 0) this.#end(over);
  }

  /**
   * No node has a content that was rolled back. The next change is compared with the content that all have in its
   * place.
   */
  *#effective(changes: Iterable<KeyChange>): Iterable<KeyChange> {
    for (const change of changes) {
      const entry = this.#quarantine.find(change, change.before?.version);
      yield entry?.cause === "rolled-back" ? { ...change, before: entry.instead } : change;
    }
  }

  /** Ends the quarantine of an entry; returns false if it had ended. */
  lift(entry: QuarantineEntry): boolean {
    const ended = this.#quarantine.delete([entry]);
    if (ended.length === 0) return false;
    this.#views = undefined;
    // Tells the streams once for all entries that are lifted one after the other, since that costs all streams.
    if (this.#lifted.length === 0) queueMicrotask(() => this.#endByHand(this.#lifted.splice(0)));
    this.#lifted.push(...ended);
    return true;
  }

  /** Forgets the group, in which nobody is left. */
  close(): void {
    this.#shared?.close();
    this.#cancelReview?.();
    this.#rollout?.close();
  }

  get underWay(): RolloutMachine | undefined {
    return this.#rollout?.isUnderWay ? this.#rollout : undefined;
  }

  #view(isReached: boolean, order: number, newest: Snapshot): Snapshot {
    if (this.#views?.newest !== newest) this.#views = { newest, laid: new Map() };
    const { laid } = this.#views;
    const key = `${isReached} ${this.#quarantine.classOf(order)}`;
    let found = laid.get(key);
    if (found === undefined) {
      const overrides: Overrides = new Map(isReached ? [] : this.underWay?.undo);
      this.#quarantine.lay(overrides, newest, order);
      found = overlaid(newest, overrides);
      laid.set(key, found);
    }
    return found;
  }

  #newRollout(id = this.#context.nextId(), change?: RolloutChange): RolloutMachine {
    const { group, clock, members, shared } = this.#context;
    const context = {
      ...{ id, group, clock, members, led: shared && (() => shared.nudge()) },
      isKeptFrom: ({ order }: Member) => {
        const newest = this.newest();
        return newest !== undefined && this.#quarantine.keeps(rollout.undo, newest, order);
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

  /** Finds the contents that go into quarantine after a rejection. */
  #reviewLater(): void {
    if (this.#quarantine.isEmpty) return;
    this.#cancelReview ??= this.#context.clock.after(reviewMs, () => {
      this.#cancelReview = undefined;
      const { members, clock } = this.#context;
      const own = [...this.quarantine].filter(({ isElsewhere }) => !isElsewhere);
      const over = this.#quarantine.delete(this.#verdicts.over(own, members, clock.now()));
      if (over.length > 0) this.#end(over);
      this.#reviewLater();
    });
  }

  #endByHand(entries: readonly QuarantineEntry[]): void {
    this.#end(entries);
    const { shared, group } = this.#context;
    const back = new Set(entries.filter(({ cause }) => cause === "rolled-back").map(idOf));
    if (shared !== undefined && back.size > 0)
      shared.release(group, back).catch((error: unknown) => shared.failed(error));
  }

  /** Ends the quarantine of these entries. */
  #end(entries: readonly QuarantineEntry[]): void {
    this.#quarantineIs("ended", entries);
    this.spread();
  }

  spread(): void {
    this.#views = undefined;
    this.#settle();
    this.#context.spread();
  }

  #settle(): void {
    const newest = this.#quarantine.isEmpty ? undefined : this.newest();
    const ended = newest && this.#quarantine.settle(newest, this.underWay?.undo);
    if (ended?.length) this.#quarantineIs("ended", ended);
  }
}
