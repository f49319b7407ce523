import type { Resource, ResourceType } from "@xdskit/api";
import type { Rejection, Snapshot } from "@xdskit/protocol";
import type { Clock } from "../basics/clock.js";
import type { RolloutOutcome } from "../contracts/rollout-status.js";
import type { FullRolloutSettings } from "../settings/rollout-settings.js";
import { createLastGood, type LastGood, namedIn } from "./last-good.js";
import type { Member } from "./member.js";
import { changesBetween, idOf, type Overrides, overlaid, resourceIn } from "./overrides.js";
import { createQuarantine, type QuarantineEntry } from "./quarantine.js";
import { createRollout, type RolloutContext, type RolloutMachine } from "./rollout.js";
import { reviewMs, Verdicts } from "./verdicts.js";

/** What a group's view needs of its surroundings. */
export interface GroupViewContext {
  readonly group: string;
  readonly clock: Clock;
  /** Whether what clients reject is kept from streams that come later. */
  readonly keepsLastGood: boolean;
  /** All streams and polls of the group. */
  readonly members: ReadonlySet<Member>;
  /** The order of the member that came last. */
  lastOrder(): number;
  /** The group's newest snapshot; undefined while nothing is known yet. */
  newest(): Snapshot | undefined;
  nextId(): number;
  /** Some of the members get another snapshot now. */
  spread(): void;
  rolloutIs(outcome: RolloutOutcome, rollout: RolloutMachine): void;
  quarantineIs(outcome: "began" | "ended", entries: readonly QuarantineEntry[]): void;
}

/** How a change goes to the nodes: by steps, at once, or as a supplied resource does, which no rollout holds back. */
export type Spread = FullRolloutSettings | "at-once" | "on-demand";

/**
 * Decides which snapshot each stream of a group gets: the newest, except for changes that a rollout has not brought to
 * its node yet, and for contents in quarantine. A view is the newest snapshot with overrides, shared by all streams
 * with the same overrides; all other changes reach every stream at once.
 */
export interface GroupView {
  readonly rollout: RolloutMachine | undefined;
  readonly quarantine: Iterable<QuarantineEntry>;
  snapshotFor(member: Member, newest: Snapshot): Snapshot;
  /** All snapshots that streams have now, besides the newest. */
  snapshots(): Iterable<Snapshot>;
  /** The newest snapshot became another. */
  changed(before: Snapshot, after: Snapshot, how: Spread): void;
  came(member: Member): void;
  /** It can be asked for the last time. */
  ends(member: Member): void;
  left(member: Member): void;
  progressed(member: Member): void;
  /** `isWhole`: the response held the client's whole target. */
  rejected(member: Member, type: ResourceType, rejection: Rejection, isWhole: boolean): void;
  /** Ends the rollout that is under way; false if there is none. */
  promote(): boolean;
  rollBack(): boolean;
  /** Ends the quarantine of these entries. */
  lift(entries: Iterable<QuarantineEntry>): boolean;
  /** Nobody is left in the group, and it is forgotten. */
  close(): void;
}

export function createGroupView(context: GroupViewContext): GroupView {
  const { members } = context;
  const quarantine = createQuarantine();
  const lastGood = context.keepsLastGood ? createLastGood() : undefined;
  const verdicts = new Verdicts();
  let cancelReview: (() => void) | undefined;
  const views = new Map<string, Snapshot>();
  let viewsOf: Snapshot | undefined;
  let rollout: RolloutMachine | undefined;
  /** Entries that were just taken out of quarantine by hand, and not reported yet. */
  let lifted: QuarantineEntry[] = [];

  /** What a rollout under way keeps from those that it has not reached. */
  const undo = () => (rollout?.isUnderWay ? rollout.undo : undefined);

  function view(reached: boolean, order: number, newest: Snapshot): Snapshot {
    if (viewsOf !== newest) forgetViews();
    viewsOf = newest;
    const key = `${reached} ${quarantine.classOf(order)}`;
    let found = views.get(key);
    if (found === undefined) {
      const overrides: Overrides = new Map(reached ? [] : undo());
      quarantine.lay(overrides, newest, order);
      found = overlaid(newest, overrides);
      views.set(key, found);
    }
    return found;
  }
  /** A snapshot that is kept for long grows with each publication. */
  function forgetViews(): void {
    views.clear();
    viewsOf = undefined;
  }
  function spread(): void {
    forgetViews();
    settle();
    context.spread();
  }
  function settle(): void {
    const newest = context.newest();
    if (quarantine.size > 0 && newest !== undefined) tellEnded(quarantine.settle(newest, undo()));
  }
  function tellEnded(ended: readonly QuarantineEntry[]): void {
    if (ended.length > 0) context.quarantineIs("ended", ended);
  }
  function tellLifted(): void {
    const ended = lifted;
    lifted = [];
    tellEnded(ended);
    spread();
  }
  /** Finds the entries for quarantine after a rejection. */
  function quarantineAfter(known: LastGood, member: Member, contents: readonly Resource[], rejection: Rejection) {
    const newest = context.newest();
    if (newest === undefined) return [];
    const isServed = (content: Resource) =>
      resourceIn(newest, content)?.version === content.version ||
      undo()?.get(idOf(content))?.resource?.version === content.version;
    const { blamed, message } = rejection;
    if (blamed === undefined) {
      // The rejection may be about an outdated content, or one in quarantine already; if not, the next one shows it.
      if (!contents.every(isServed) || contents.some((content) => quarantine.has(content, content.version))) return [];
    }
    const suspicion = blamed === undefined ? {} : undefined;
    const about = { suspicion, node: member.node.id, message, since: new Date(), after: context.lastOrder() };
    const suspects = known.suspectsAmong(contents.filter(isServed), rejection, member, members);
    return suspects.map(({ type, key, rejected, good }): QuarantineEntry => {
      return { type, key, version: rejected.version, instead: good, cause: "rejected", ...about };
    });
  }
  /** A client rejected contents that are in quarantine now. */
  function noteVerdict(contents: readonly Resource[], { id }: Member["node"]): void {
    const now = context.clock.now();
    for (const content of contents) {
      const entry = quarantine.find(content, content.version);
      if (entry?.cause === "rejected") verdicts.rejects(entry, id, now);
    }
    if (quarantine.size > 0) cancelReview ??= context.clock.after(reviewMs, review);
  }
  function review(): void {
    cancelReview = undefined;
    const over = quarantine.delete(verdicts.over(quarantine.entries, members, context.clock.now()));
    if (over.length > 0) {
      tellEnded(over);
      spread();
    }
    if (quarantine.size > 0) cancelReview ??= context.clock.after(reviewMs, review);
  }
  function put(entries: Iterable<QuarantineEntry>): void {
    const added = quarantine.add(entries);
    if (added.length === 0) return;
    context.quarantineIs("began", added);
    spread();
  }
  function startRollout(): RolloutMachine {
    const rolloutContext: RolloutContext = {
      id: context.nextId(),
      group: context.group,
      clock: context.clock,
      members: () => members,
      isKeptFrom(member) {
        const newest = context.newest();
        return newest !== undefined && quarantine.keeps(machine.undo, newest, member.order);
      },
      spread,
      report: (outcome) => context.rolloutIs(outcome, machine),
    };
    const machine = createRollout(rolloutContext);
    return machine;
  }
  /** No node is there that it could break, and none that could prove that it works. */
  function isDeserted(): boolean {
    for (const { client } of members) if (client.standing !== undefined) return false;
    return true;
  }

  return {
    get rollout() {
      return rollout;
    },
    get quarantine() {
      return quarantine.entries;
    },
    snapshotFor(member, newest) {
      const underWay = rollout?.isUnderWay ?? false;
      if (!underWay && quarantine.size === 0) return newest;
      return view(!underWay || rollout?.reaches(member) === true, member.order, newest);
    },
    *snapshots() {
      const newest = context.newest();
      if (newest === undefined) return;
      const orders = [0, ...quarantine.orders];
      for (const order of orders) {
        yield view(true, order, newest);
        if (rollout?.isUnderWay) yield view(false, order, newest);
      }
    },
    changed(before, after, how) {
      forgetViews();
      lastGood?.aged();
      const underWay = rollout?.isUnderWay ?? false;
      if (how === "at-once") {
        if (underWay) rollout?.pass(changesBetween(before, after));
      } else if (how !== "on-demand" && (underWay || !isDeserted())) {
        if (!underWay) rollout = startRollout();
        rollout?.change(changesBetween(before, after), how);
      }
      settle();
    },
    came: (member) => rollout?.came(member),
    ends(member) {
      lastGood?.note(member);
      rollout?.left(member);
    },
    left: (member) => rollout?.left(member),
    progressed: (member) => rollout?.progressed(member),
    rejected(member, type, given, isWhole) {
      const rejection = namedIn(given, isWhole);
      rollout?.rejected(member, type, rejection);
      if (lastGood === undefined) return;
      const contents = lastGood.contentsOf(type, rejection, member, isWhole);
      put(quarantineAfter(lastGood, member, contents, rejection));
      noteVerdict(contents, member.node);
    },
    promote: () => rollout?.end("completed") ?? false,
    rollBack() {
      const newest = context.newest();
      if (!rollout?.isUnderWay || newest === undefined) return false;
      const last = [...rollout.status().rejections].at(-1);
      const about = { node: last?.node ?? "", message: last?.message ?? "" };
      const entries = Array.from(rollout.undo.values(), ({ type, key, resource }) => ({
        type,
        key,
        version: resourceIn(newest, { type, key })?.version,
        instead: resource,
        cause: "rolled-back" as const,
        suspicion: undefined,
        after: -1,
        since: new Date(),
        ...about,
      }));
      const added = quarantine.add(entries);
      rollout.end("rolled-back");
      context.quarantineIs("began", added);
      return true;
    },
    lift(entries) {
      const ended = quarantine.delete(entries);
      if (ended.length === 0) return false;
      forgetViews();
      // Once for all that are lifted one after the other: telling the streams costs as many as there are.
      if (lifted.length === 0) queueMicrotask(tellLifted);
      for (const entry of ended) lifted.push(entry);
      return true;
    },
    close() {
      cancelReview?.();
      rollout?.close();
    },
  };
}
