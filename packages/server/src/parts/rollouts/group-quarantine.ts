import type { Resource, ResourceType, Version } from "@xdskit/api";
import type { Rejection, Snapshot } from "@xdskit/protocol";
import { idOf } from "../../basics/id-of.js";
import type { GroupTargetsContext } from "./group-targets-context.js";
import type { Member } from "./members/member.js";
import { type KeyChange, type Keyed, type Override, type Overrides, resourceIn } from "./members/overrides.js";
import { LastAcknowledged, namedIn } from "./quarantine/last-acknowledged.js";
import { Quarantine, type QuarantineEntry } from "./quarantine/quarantine.js";
import { reviewMs, Verdicts } from "./quarantine/verdicts.js";
import { contentId, contentIdOf, quarantineEntries, rejectedContentOf } from "./rejected-entries.js";
import type { RejectedContent } from "./shared/rejected-contents.js";
import type { KeptFromMembers } from "./shared/shared-course.js";
import type { SharedRolloutHub } from "./shared/shared-rollouts.js";

/** The rest of a group's targets. */
interface Rest {
  /** What members that a rollout has not reached get in place of the newest; undefined: no rollout is under way. */
  readonly undo: Overrides | undefined;
  /** Some members get another snapshot now. */
  spread(): void;
  /** They do, and are told later. */
  forgetViews(): void;
}

/**
 * The contents that a group keeps from its members, by cause: a client rejected one, here or at another server, or a
 * rollout of it was rolled back. Each ends when the resource gets another content, when more nodes use it than reject
 * it, or by hand.
 */
export class GroupQuarantine implements KeptFromMembers {
  readonly #context: GroupTargetsContext;
  readonly #rest: Rest;
  readonly contents = new Quarantine();
  #lastAcknowledged: LastAcknowledged | undefined;
  readonly #verdicts = new Verdicts();
  /** What other servers say, as far as it was looked at. */
  readonly #reported = new Set<string>();
  /** Entries that were just lifted by hand, and not reported yet. */
  #lifted: QuarantineEntry[] = [];
  #cancelReview: (() => void) | undefined;

  constructor(context: GroupTargetsContext, rest: Rest) {
    this.#context = context;
    this.#rest = rest;
    this.#lastAcknowledged = context.keepsLastGood ? new LastAcknowledged() : undefined;
  }

  /** The setting to keep rejected contents from later streams changed. If it is off now, their quarantine ends. */
  settingsChanged(): void {
    const { keepsLastGood } = this.#context;
    if (keepsLastGood === (this.#lastAcknowledged !== undefined)) return;
    this.#lastAcknowledged = keepsLastGood ? new LastAcknowledged() : undefined;
    if (keepsLastGood) {
      this.rejectedChanged();
      return;
    }
    this.#reported.clear();
    this.#end(this.#of("rejected"));
  }

  /** A member ends. It can be asked for the last time. */
  ends(member: Member): void {
    this.#lastAcknowledged?.note(member);
  }

  /** A client rejected a response. `isWhole`: that had the client's whole target. */
  rejected(member: Member, type: ResourceType, given: Rejection, isWhole: boolean): void {
    if (this.#lastAcknowledged === undefined) return;
    const rejection = namedIn(given, isWhole);
    const contents = this.#lastAcknowledged.contentsOf(type, rejection, member, isWhole);
    const isServed = (content: Resource) => this.#isServed(content, content.version);
    // The rejection may be about an outdated content, or one in quarantine already; if not, the next one shows it.
    const isOpen = (content: Resource) => isServed(content) && !this.contents.find(content, content.version);
    if (rejection.blamed !== undefined || contents.every(isOpen)) {
      const { members, lastOrder } = this.#context;
      const suspects = this.#lastAcknowledged.suspectsAmong(contents.filter(isServed), rejection, member, members);
      this.#begin(this.contents.add(quarantineEntries(suspects, rejection, member, lastOrder)));
    }
    const now = this.#context.clock.now();
    for (const content of contents) {
      const entry = this.contents.find(content, content.version);
      if (entry?.cause === "rejected") this.#verdicts.rejects(entry, member.node.id, now);
    }
    this.#reviewLater();
  }

  ownRejected(): readonly RejectedContent[] {
    return this.#of("rejected")
      .filter(({ isElsewhere }) => !isElsewhere)
      .map(rejectedContentOf);
  }

  rejectedChanged(): void {
    const { shared, group } = this.#context;
    if (shared === undefined || this.#lastAcknowledged === undefined) return;
    const said = new Map(shared.rejected(group).map((each) => [contentId(each), each]));
    if (said.size === 0 && this.#reported.size === 0) return;
    for (const id of this.#reported) if (!said.has(id)) this.#reported.delete(id);
    this.#end([...this.contents.entries()].filter((entry) => entry.isElsewhere && !said.has(contentIdOf(entry))));
    for (const [id, each] of said) {
      if (this.#reported.has(id) || !this.#isTarget(each)) continue;
      this.#reported.add(id);
      void this.#keepRejected(shared, each, this.#context.lastOrder).catch((error: unknown) => {
        // The next publication tries again.
        this.#reported.delete(id);
        shared.failed(error);
      });
    }
  }

  /** `after`: it is kept from members that come later than this one, also while its replacement is read. */
  async #keepRejected(shared: SharedRolloutHub, rejected: RejectedContent, after: number): Promise<void> {
    const { type: typeUrl, key, version, instead, node, message, since } = rejected;
    const good = instead === undefined ? undefined : await shared.content(typeUrl, key, instead);
    const type = this.#context.newest()?.sets.get(typeUrl)?.type;
    if (type === undefined || !this.#reported.has(contentId(rejected)) || !this.#isTarget(rejected)) return;
    if (instead !== undefined && good === undefined) return;
    const about = { cause: "rejected", suspicion: undefined, after, isElsewhere: true } as const;
    const entry = { ...about, type, key, version, instead: good, since: new Date(since), node, message };
    this.#begin(this.contents.add([entry]));
  }

  #isTarget({ type: typeUrl, key, version }: RejectedContent): boolean {
    const type = this.#context.newest()?.sets.get(typeUrl)?.type;
    return type !== undefined && this.#isServed({ type, key }, version);
  }

  /** Some stream has this content, or must get it. Undefined: it has none there. */
  #isServed(about: Keyed, version: Version | undefined): boolean {
    const newest = this.#context.newest();
    if (newest === undefined) return false;
    const held = this.#rest.undo?.get(idOf(about));
    return resourceIn(newest, about)?.version === version || (held !== undefined && held.resource?.version === version);
  }

  /** Adds the newest content of each of these, and returns what is new; `began` reports it. */
  addRolledBack(undo: Iterable<Override>, { node = "", message = "" } = {}): readonly QuarantineEntry[] {
    const newest = this.#context.newest();
    if (newest === undefined) return [];
    const about = { cause: "rolled-back", suspicion: undefined, after: -1, since: new Date(), node, message } as const;
    return this.contents.add(
      Array.from(undo, ({ type, key, resource }) => {
        return { type, key, version: resourceIn(newest, { type, key })?.version, instead: resource, ...about };
      }),
    );
  }

  keepFromAll(undo: Iterable<Override>, rejection?: { readonly node: string; readonly message: string }): void {
    this.#begin(this.addRolledBack(undo, rejection));
  }

  keepsRolledBack(): boolean {
    return this.#of("rolled-back").length > 0;
  }

  onlyFromAll(ids: { has(id: string): boolean }): void {
    this.#end(this.#of("rolled-back").filter((each) => !ids.has(idOf(each))));
  }

  /**
   * No node has a content that was rolled back. The next change is compared with the content that all have in its
   * place.
   */
  *effective(changes: Iterable<KeyChange>): Iterable<KeyChange> {
    for (const change of changes) {
      const entry = this.contents.find(change, change.before?.version);
      yield entry?.cause === "rolled-back" ? { ...change, before: entry.instead } : change;
    }
  }

  /** Ends the quarantine of an entry; returns false if it had ended. */
  lift(entry: QuarantineEntry): boolean {
    const ended = this.contents.delete([entry]);
    if (ended.length === 0) return false;
    this.#rest.forgetViews();
    // Tells the streams once for all entries that are lifted one after the other, since that costs all streams.
    if (this.#lifted.length === 0) queueMicrotask(() => this.#endByHand(this.#lifted.splice(0)));
    this.#lifted.push(...ended);
    return true;
  }

  /** Contents that are nobody's target any more leave it. */
  review(): void {
    const newest: Snapshot | undefined = this.contents.isEmpty ? undefined : this.#context.newest();
    const ended = newest && this.contents.review(newest, this.#rest.undo);
    if (ended?.length) this.#report("ended", ended);
  }

  /** Reports what was added. */
  began(added: readonly QuarantineEntry[]): void {
    this.#report("began", added);
  }

  close(): void {
    this.#cancelReview?.();
  }

  #of(wanted: QuarantineEntry["cause"]): readonly QuarantineEntry[] {
    return [...this.contents.entries()].filter(({ cause }) => cause === wanted);
  }

  #reviewLater(): void {
    if (this.contents.isEmpty) return;
    this.#cancelReview ??= this.#context.clock.after(reviewMs, () => {
      this.#cancelReview = undefined;
      const { members, clock } = this.#context;
      const own = [...this.contents.entries()].filter(({ isElsewhere }) => !isElsewhere);
      this.#end(this.#verdicts.over(own, members, clock.now()));
      this.#reviewLater();
    });
  }

  #endByHand(entries: readonly QuarantineEntry[]): void {
    this.#report("ended", entries);
    this.#rest.spread();
    const { shared, group } = this.#context;
    const back = new Set(entries.filter(({ cause }) => cause === "rolled-back").map(idOf));
    if (shared !== undefined && back.size > 0)
      shared.release(group, back).catch((error: unknown) => shared.failed(error));
  }

  #begin(added: readonly QuarantineEntry[]): void {
    if (added.length === 0) return;
    this.#report("began", added);
    this.#rest.spread();
  }

  #end(entries: Iterable<QuarantineEntry>): void {
    const ended = this.contents.delete(entries);
    if (ended.length === 0) return;
    this.#report("ended", ended);
    this.#rest.spread();
  }

  #report(outcome: "began" | "ended", entries: readonly QuarantineEntry[]): void {
    this.#context.quarantineIs(outcome, entries);
    this.#context.shared?.tellRejected(this.#context.group);
  }
}
