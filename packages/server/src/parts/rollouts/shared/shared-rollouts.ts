import {
  type Clock,
  type Finding,
  getOrInsert,
  type Resource,
  type ResourceName,
  type ResourceTypes,
  type TypeUrl,
  type Version,
} from "@xdskit/api";
import type {
  RolloutAction,
  RolloutLed,
  RolloutSharing,
  SharedRollouts,
} from "../../../contracts/rollouts/rollout-sharing.js";
import { readAgainMs } from "../../../stores/basics/paces.js";
import { storeFinding } from "../../../stores/basics/store-finding.js";
import { Troubles } from "../../../stores/basics/troubles.js";
import { isOver } from "../course/course.js";
import { isHolding, type RolloutRecord } from "../records/record.js";
import { RecordStore } from "../records/record-store.js";
import { type LeadOptions, leadByHand, releaseByHand } from "./by-hand.js";
import { type CountJson, countJson, nobodyThere } from "./count-json.js";
import { FreshRecords } from "./fresh-records.js";
import type { GroupShare, GroupSide, Prepared } from "./group-side.js";
import { Leader } from "./leader.js";
import { PreparedChanges } from "./prepared-changes.js";
import { type RejectedContent, RejectedContents } from "./rejected-contents.js";
import { writeProposals } from "./write-proposals.js";

/** How long a rollout of a group that is not here needs what was there before, in milliseconds: a week. */
const elsewhereMs = 7 * 24 * 3_600_000;

/**
 * The rollouts that this server carries out together with others. The records have the decisions. The leading server
 * asks all servers for their nodes' answers, and decides.
 */
export class SharedRolloutHub implements SharedRollouts {
  readonly #clock: Clock;
  readonly #records: RecordStore;
  readonly #prepared: PreparedChanges;
  readonly #leader: Leader;
  readonly #rejected: RejectedContents;
  readonly #sides = new Map<string, Set<GroupSide>>();
  readonly #fresh: FreshRecords;
  /** The preparation of all records that is under way. */
  #preparingAll: Promise<void> | undefined;
  readonly #proposing = new Set<string>();
  #isOpen = false;
  #isClosed = false;
  #closing: Promise<void> | undefined;
  readonly #troubles: Troubles;

  private constructor(sharing: RolloutSharing, clock: Clock, types: ResourceTypes) {
    this.#clock = clock;
    this.#troubles = new Troubles(sharing.problem);
    const { shared } = sharing.store;
    this.#records = new RecordStore(shared, {
      recordChanged: (group) => this.#recordChanged(group),
      reported: () => this.#troubles.over(),
      away: (finding) => this.#trouble(finding),
    });
    this.#fresh = new FreshRecords(sharing.store, (since) => {
      const isRecorded = (group: string) => (this.#records.of(group)?.since ?? 0) >= since;
      return [...this.#sides.keys()].every(isRecorded);
    });
    const problem = (finding: Finding) => this.#trouble(finding);
    const common = { ...sharing, shared, clock, types, records: this.#records, problem };
    this.#prepared = new PreparedChanges(common);
    this.#rejected = new RejectedContents({
      ...common,
      onChanged: (group) => {
        for (const side of this.#sidesOf(group)) side.rejectedChanged();
      },
    });
    this.#leader = new Leader({ ...common, count: (record) => this.#count(record) });
  }

  /** Reads the records, and what nodes have that their rollouts have not reached. */
  static async open(sharing: RolloutSharing, clock: Clock, types: ResourceTypes): Promise<SharedRolloutHub> {
    const hub = new SharedRolloutHub(sharing, clock, types);
    const rejected = hub.#rejected.read().catch(hub.failed);
    try {
      // While the store is away, a copy of it may have these.
      await hub.#records.read();
    } catch (error) {
      hub.failed(error);
    }
    await Promise.all([hub.#prepareAll(), rejected]);
    return hub;
  }

  /**
   * Reads what nodes have that the rollouts under way have not reached, including those that began or changed since the
   * last read. Without it nodes would get what is held back from them at other servers.
   */
  prepare(): Promise<void> {
    this.#preparingAll ??= this.#prepareNewest().finally(() => {
      this.#preparingAll = undefined;
      // A start may not have waited for all of it. What could not be read is read again.
      for (const { group } of this.#records.all) if (this.#sides.has(group)) this.#recordPrepared(group);
    });
    return this.#preparingAll;
  }

  async #prepareNewest(): Promise<void> {
    await this.#prepareAll();
    await this.#fresh.wait(() => this.#prepareAll()).catch(this.failed);
  }

  async #prepareAll(): Promise<void> {
    await this.#prepared.readAll(() => this.#isClosed).catch(this.failed);
  }

  get neededSince(): number | undefined {
    if (!this.#records.isRead) return 0;
    const isNeeded = (record: RolloutRecord) =>
      this.#isOpen ? mayBeNeeded(record, this.#sideOf(record.group)) : isHolding(record);
    const began = this.#records.all.filter(isNeeded).map(({ startedAt }) => startedAt);
    return began.length === 0 ? undefined : Math.min(...began);
  }

  /** From now on nodes are told what there is, and every group is here that has nodes. */
  opened(): void {
    this.#isOpen = true;
  }

  readonly recordOf = (group: string): RolloutRecord | undefined => this.#records.of(group);

  /** See `RecordStore.catchUp`. */
  readonly catchUp = (): Promise<void> | undefined => this.#records.catchUp();

  /** What clients of other servers rejected. */
  rejected(group: string): readonly RejectedContent[] {
    return this.#rejected.others(group);
  }

  /** What clients of this server rejected may be another list now. */
  tellRejected(group: string): void {
    const rejected = this.#sidesOf(group).flatMap((side) => side.ownRejected());
    this.#rejected.tell(group, rejected);
  }

  /** Somebody ended the quarantine of some of what was rolled back, for all servers. */
  readonly release = (group: string, ids: ReadonlySet<string>): Promise<void> =>
    releaseByHand(this.#records, group, ids);

  /** The store cannot be read or written, or an order that somebody gave by hand could not be. */
  readonly failed = (error: unknown): void => this.#trouble(storeFinding(error));

  join(group: string, side: GroupSide): GroupShare {
    const sides = getOrInsert(this.#sides, group, () => new Set()).add(side);
    return shareOf(this.#records, group, {
      prepared: () => this.#preparedNow(group),
      propose: () => void this.#propose(group),
      leave: () => this.#left(group, sides, side),
    });
  }

  /** Groups that a function names come and go with their streams. */
  #left(group: string, sides: Set<GroupSide>, side: GroupSide): void {
    sides.delete(side);
    if (this.#sides.get(group) !== sides) return;
    if (sides.size === 0) {
      this.#sides.delete(group);
      this.#prepared.forget(group);
    }
    this.tellRejected(group);
  }

  /** The answers of this server's nodes may have changed. */
  nudge(): void {
    this.#leader.nudge();
  }

  counts(asked: unknown): readonly CountJson[] {
    const isWhole = (asked as { readonly isWhole?: boolean } | null)?.isWhole === true;
    return this.#records.all
      .filter(({ course }) => !isOver(course))
      .flatMap((record) => {
        const count = this.#count(record);
        return count === undefined ? [] : [countJson(record, count, isWhole)];
      });
  }

  async lead(group: string, action: RolloutAction, options: LeadOptions = {}): Promise<RolloutLed> {
    return await leadByHand({ records: this.#records, leader: this.#leader }, group, action, options);
  }

  async close(): Promise<void> {
    this.#closing ??= this.#close();
    await this.#closing;
  }

  async #close(): Promise<void> {
    this.#isClosed = true;
    this.#fresh.close();
    this.#records.close();
    await Promise.all([this.#leader.close(), this.#rejected.close()]);
  }

  /** Nobody of a group that is not here has to answer. */
  #count(record: RolloutRecord) {
    const side = this.#sideOf(record.group);
    return side === undefined ? nobodyThere(record.course) : side.count(record);
  }

  #recordChanged(group: string): void {
    if (this.#isClosed) return;
    this.#fresh.recordChanged();
    // A record is heard while the hub is made.
    queueMicrotask(() => {
      if (this.#isClosed) return;
      for (const side of this.#sidesOf(group)) side.recordChanged();
      this.#leader.notified();
    });
  }

  #preparedNow(group: string): Prepared | undefined {
    const record = this.#records.of(group);
    if (record === undefined) return undefined;
    const known = this.#prepared.of(record);
    if (known !== undefined) return known.kind === "read" ? known.prepared : undefined;
    void this.#prepared
      .read(record)
      .catch(this.failed)
      .then(() => this.#recordPrepared(group));
    return undefined;
  }

  #recordPrepared(group: string): void {
    if (this.#isClosed) return;
    const record = this.#records.of(group);
    if (record !== undefined && this.#prepared.of(record)?.kind === "failed") {
      this.#prepared.forget(group);
      this.#later(() => this.#preparedNow(group));
      return;
    }
    for (const side of this.#sidesOf(group)) side.recordChanged();
  }

  /** A content that the store has; undefined: it has it no more. */
  content(type: TypeUrl, key: ResourceName, version: Version): Promise<Resource | undefined> {
    return this.#prepared.content(type, key, version);
  }

  async #propose(group: string): Promise<void> {
    if (this.#isClosed || this.#proposing.has(group)) return;
    this.#proposing.add(group);
    try {
      const proposal = (record: RolloutRecord | undefined) =>
        this.#isClosed ? undefined : this.#sideOf(group)?.proposal(record);
      await writeProposals(this.#records, group, proposal);
      this.#troubles.over();
    } catch (error) {
      this.failed(error);
      this.#later(async () => {
        await this.#records.read().catch(() => {});
        void this.#propose(group);
      });
    } finally {
      this.#proposing.delete(group);
    }
  }

  /** A group that got other layers is there twice for a moment: the newer one counts. */
  #sideOf(group: string): GroupSide | undefined {
    return this.#sidesOf(group).at(-1);
  }

  #sidesOf(group: string): readonly GroupSide[] {
    return [...(this.#sides.get(group) ?? [])];
  }

  #later(run: () => void): void {
    this.#clock.after(readAgainMs, () => {
      if (!this.#isClosed) run();
    });
  }

  #trouble(finding: Finding): void {
    if (!this.#isClosed) this.#troubles.tell(finding);
  }
}

/** Nodes of this server, or of another one, may have what was there before. */
function mayBeNeeded(record: RolloutRecord, side: GroupSide | undefined): boolean {
  if (side !== undefined) return side.needsPast(record);
  // Other servers may have the group still; or it was removed in the middle of its rollout.
  return !isOver(record.course) && Date.now() - record.since < elsewhereMs;
}

/** The record of a group as it is at each look. */
function shareOf(records: RecordStore, group: string, rest: Omit<GroupShare, "isRead" | "record">): GroupShare {
  return {
    ...rest,
    get isRead() {
      return records.isRead;
    },
    get record() {
      return records.of(group);
    },
  };
}
