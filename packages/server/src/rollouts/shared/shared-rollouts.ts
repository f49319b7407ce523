import {
  type Clock,
  type Finding,
  type ResourceName,
  type ResourceTypes,
  type TypeUrl,
  type Version,
  XdskitError,
} from "@xdskit/api";
import { idOf } from "../../basics/id-of.js";
import type { RolloutAction, RolloutLed, RolloutSharing, SharedRollouts } from "../../contracts/rollout-sharing.js";
import { storeFinding } from "../../stores/basics/store-finding.js";
import { decodeStored } from "../../stores/basics/stored-content.js";
import { type Course, ended, halted, isOver, resumed } from "../course.js";
import { type CountJson, countJson, nobodyThere } from "./count-json.js";
import type { GroupShare, GroupSide, Prepared, PreparedResource } from "./group-side.js";
import { Leader } from "./leader.js";
import { type ChangedResource, changeOf, preparedFor, type RolloutRecord } from "./record.js";
import { RecordStore } from "./record-store.js";
import { type RejectedContent, RejectedContents } from "./rejected-contents.js";
import { Troubles } from "./troubles.js";

/** How long after a failed read or write it is tried again, in milliseconds. */
const retryMs = 1_000;
/** The most contents to read at once. */
const readAtOnce = 64;
/** The most resources that one message names. */
const mostNamed = 10;
/** How often other servers may be faster, before something is wrong. */
const mostConflicts = 20;
/**
 * How long after a change a start waits for the record of its rollout, in milliseconds: the change is in the store
 * before. Servers whose clocks differ by more do not wait.
 */
const freshMs = 1_500;
/** How long a rollout of a group that is not here needs what was there before, in milliseconds: a week. */
const elsewhereMs = 7 * 24 * 3_600_000;
/** How often a start reads records and lists again while others keep replacing them. */
const mostReads = 5;

interface Preparing {
  readonly of: string;
  prepared: Prepared | undefined;
}

/**
 * The rollouts that this server carries out together with others. The records have the decisions. The leading server
 * asks all servers for their nodes' answers, and decides.
 */
export class SharedRolloutHub implements SharedRollouts {
  readonly #sharing: RolloutSharing;
  readonly #clock: Clock;
  readonly #types: ResourceTypes;
  readonly #records: RecordStore;
  readonly #leader: Leader;
  readonly #rejected: RejectedContents;
  readonly #sides = new Map<string, Set<GroupSide>>();
  readonly #preparing = new Map<string, Preparing>();
  /** Called at each record that is heard. */
  readonly #waiting = new Set<() => void>();
  /** The preparation of all records that is under way. */
  #preparingAll: Promise<void> | undefined;
  readonly #proposing = new Set<string>();
  readonly #timers = new Set<() => void>();
  #isOpen = false;
  #isClosed = false;
  #closing: Promise<void> | undefined;
  readonly #troubles: Troubles;

  private constructor(sharing: RolloutSharing, clock: Clock, types: ResourceTypes) {
    this.#sharing = sharing;
    this.#clock = clock;
    this.#types = types;
    this.#troubles = new Troubles(sharing.problem);
    const { shared } = sharing.store;
    this.#records = new RecordStore(shared, {
      heard: (group) => this.#heard(group),
      told: () => this.#troubles.over(),
      away: (finding) => this.#trouble(finding),
    });
    this.#rejected = new RejectedContents({
      ...{ shared, clock, problem: (finding: Finding) => this.#trouble(finding) },
      heard: (group) => {
        for (const side of this.#sides.get(group) ?? []) side.rejectedHeard();
      },
    });
    this.#leader = new Leader({
      ...{ shared, clock, replica: sharing.replica, records: this.#records, peers: sharing.peers },
      count: (record) => this.#count(record),
      problem: (finding) => this.#trouble(finding),
    });
  }

  /** Reads the records, and what nodes have that their rollouts have not reached. */
  static async open(sharing: RolloutSharing, clock: Clock, types: ResourceTypes): Promise<SharedRolloutHub> {
    const hub = new SharedRolloutHub(sharing, clock, types);
    const rejected = hub.#rejected.read().catch((error: unknown) => hub.#trouble(storeFinding(error)));
    try {
      // While the store is away, a copy of it may have these.
      await hub.#records.read();
    } catch (error) {
      hub.#trouble(storeFinding(error));
    }
    await Promise.all([hub.#prepareAll(), rejected]);
    return hub;
  }

  /**
   * Reads what nodes have that the rollouts under way have not reached, including those that began or changed since the
   * last read. Call it before nodes are told something: they would get what is held back from them at other servers.
   */
  prepare(): Promise<void> {
    this.#preparingAll ??= this.#prepareNewest().finally(() => {
      this.#preparingAll = undefined;
      // A start may not have waited for all of it. What could not be read is read again.
      for (const { group } of this.#records.all) if (this.#sides.has(group)) this.#heardPrepared(group);
    });
    return this.#preparingAll;
  }

  async #prepareNewest(): Promise<void> {
    await this.#prepareAll();
    await this.#recordsOfFresh().catch((error: unknown) => this.#trouble(storeFinding(error)));
  }

  /** Waits for the records of changes that were made just now, and reads what each is about. */
  async #recordsOfFresh(): Promise<void> {
    const heads = await this.#sharing.store.heads();
    const changedAt = Math.max(...heads.map(({ time }) => time));
    const started = Date.now();
    if (changedAt > started + freshMs) return;
    const leftMs = () => Math.min(changedAt, started) + freshMs - Date.now();
    const isRecorded = (group: string) => (this.#records.of(group)?.since ?? 0) >= changedAt;
    while (leftMs() > 0 && ![...this.#sides.keys()].every(isRecorded) && !this.#isClosed) {
      await this.#nextRecord(leftMs());
      await this.#prepareAll();
    }
  }

  /** Resolves at the next record, or after so many milliseconds. */
  async #nextRecord(withinMs: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const done = () => {
        this.#waiting.delete(done);
        clearTimeout(timer);
        resolve();
      };
      const timer = setTimeout(done, withinMs);
      this.#waiting.add(done);
    });
  }

  async #prepareAll(): Promise<void> {
    const isMissing = (record: RolloutRecord) => isHolding(record) && !this.#isPrepared(record);
    try {
      for (let tries = 0; tries < mostReads && !this.#isClosed; tries += 1) {
        if (!this.#records.all.some(isMissing)) return;
        // If a list is gone, its record has been replaced since.
        if (tries > 0) await this.#records.read();
        await Promise.all(this.#records.all.filter(isMissing).map((record) => this.#prepare(record)));
      }
    } catch (error) {
      this.#trouble(storeFinding(error));
    }
  }

  #isPrepared(record: RolloutRecord): boolean {
    const known = this.#preparing.get(record.group);
    return known?.of === preparedFor(record) && known.prepared !== undefined;
  }

  get neededSince(): number | undefined {
    if (!this.#records.isRead) return 0;
    const began = this.#records.all.filter((record) => this.#isNeeded(record)).map(({ startedAt }) => startedAt);
    return began.length === 0 ? undefined : Math.min(...began);
  }

  /** Nodes of this server, or of another one, may have what was there before. */
  #isNeeded(record: RolloutRecord): boolean {
    if (!this.#isOpen) return isHolding(record);
    const side = this.#sideOf(record.group);
    if (side !== undefined) return side.needsPast(record);
    // Other servers may have the group still; or it was removed in the middle of its rollout.
    return !isOver(record.course) && Date.now() - record.since < elsewhereMs;
  }

  /** From now on nodes are told what there is, and every group is here that has nodes. */
  opened(): void {
    this.#isOpen = true;
  }

  recordOf(group: string): RolloutRecord | undefined {
    return this.#records.of(group);
  }

  /** What clients of other servers rejected. */
  rejected(group: string): readonly RejectedContent[] {
    return this.#rejected.others(group);
  }

  /** What clients of this server rejected. */
  tellRejected(group: string, contents: readonly RejectedContent[]): void {
    this.#rejected.tell(group, contents);
  }

  /** Somebody ended the quarantine of some of what was rolled back, for all servers. */
  async release(group: string, ids: ReadonlySet<string>): Promise<void> {
    for (let tries = 0; tries < mostConflicts; tries += 1) {
      const record = this.#records.of(group);
      if (record?.course.phase !== "rolled-back") return;
      const list = await this.#records.list(record);
      if (list === undefined) {
        await this.#records.read();
        continue;
      }
      const left = list.filter(({ type, key }) => !ids.has(idOf({ type: { typeUrl: type }, key })));
      if (left.length === list.length) return;
      if (await this.#records.write(group, record, { ...record, change: changeOf(left) }, left)) return;
    }
    throw busy();
  }

  /** An order that somebody gave by hand could not be written. */
  failed(error: unknown): void {
    this.#trouble(storeFinding(error));
  }

  join(group: string, side: GroupSide): GroupShare {
    const sides = this.#sides.get(group) ?? new Set();
    this.#sides.set(group, sides.add(side));
    const records = this.#records;
    return {
      get isRead() {
        return records.isRead;
      },
      get record() {
        return records.of(group);
      },
      prepared: () => this.#preparedNow(group),
      propose: () => void this.#propose(group),
      leave: () => this.#left(group, sides, side),
    };
  }

  /** Groups that a function names come and go with their streams. */
  #left(group: string, sides: Set<GroupSide>, side: GroupSide): void {
    sides.delete(side);
    if (sides.size > 0 || this.#sides.get(group) !== sides) return;
    this.#sides.delete(group);
    this.#preparing.delete(group);
    this.#rejected.tell(group, []);
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

  async lead(
    group: string,
    action: RolloutAction,
    { id, reason = "by hand" }: { readonly id?: number | undefined; readonly reason?: string | undefined } = {},
  ): Promise<RolloutLed> {
    for (let tries = 0; tries < mostConflicts; tries += 1) {
      await this.#records.read();
      const record = this.#records.of(group);
      if (record === undefined) return "nothing";
      if (id !== undefined && record.id !== id) return "other";
      const next = await this.#led(record, action, reason);
      if (next === undefined) return "nothing";
      if (await this.#records.write(group, record, { ...record, course: next, since: Date.now() })) return "done";
    }
    throw busy();
  }

  async close(): Promise<void> {
    this.#closing ??= this.#close();
    await this.#closing;
  }

  async #close(): Promise<void> {
    this.#isClosed = true;
    for (const stop of this.#timers) stop();
    for (const done of this.#waiting) done();
    this.#records.close();
    await Promise.all([this.#leader.close(), this.#rejected.close()]);
  }

  async #led({ course, ...record }: RolloutRecord, action: RolloutAction, reason: string): Promise<Course | undefined> {
    if (isOver(course)) return undefined;
    if (action === "promote") return ended(course, "completed");
    if (action === "rollBack") return ended(course, "rolled-back");
    const isHalted = course.phase === "halted";
    if (action === "halt") return isHalted ? undefined : halted(course, reason);
    if (!isHalted) return undefined;
    const counts = (await this.#leader.counts(true)).get(record.group) ?? [];
    const rejections = counts.flatMap((count) => (count.list === course.list ? count.rejections() : []));
    return resumed(course, new Set(rejections.map(({ node }) => node)).size);
  }

  /** Nobody of a group that is not here has to answer. */
  #count(record: RolloutRecord) {
    const side = this.#sideOf(record.group);
    return side === undefined ? nobodyThere(record.course) : side.count(record);
  }

  #heard(group: string): void {
    if (this.#isClosed) return;
    for (const done of this.#waiting) done();
    // A record is heard while the hub is made.
    queueMicrotask(() => {
      if (this.#isClosed) return;
      for (const side of [...(this.#sides.get(group) ?? [])]) side.heard();
      this.#leader.heard();
    });
  }

  #preparedNow(group: string): Prepared | undefined {
    const record = this.#records.of(group);
    if (record === undefined) return undefined;
    const known = this.#preparing.get(group);
    if (known?.of === preparedFor(record)) return known.prepared;
    void this.#prepare(record)
      .catch((error: unknown) => this.#trouble(storeFinding(error)))
      .then(() => this.#heardPrepared(group));
    return undefined;
  }

  #heardPrepared(group: string): void {
    if (this.#isClosed) return;
    const record = this.#records.of(group);
    const known = this.#preparing.get(group);
    if (record !== undefined && known?.of === preparedFor(record) && known.prepared === undefined) {
      this.#preparing.delete(group);
      this.#later(() => this.#preparedNow(group));
      return;
    }
    for (const side of [...(this.#sides.get(group) ?? [])]) side.heard();
  }

  /** Reads the list of a record's change and the contents that it is about. */
  async #prepare(record: RolloutRecord): Promise<void> {
    const preparing: Preparing = { of: preparedFor(record), prepared: undefined };
    this.#preparing.set(record.group, preparing);
    const list = await this.#records.list(record);
    if (list === undefined) return;
    const isCompleted = record.course.phase === "completed";
    const prepared = new Map<string, PreparedResource>();
    const missing: ResourceName[] = [];
    const read = async ({ type: typeUrl, key, from, wanted }: ChangedResource) => {
      const type = this.#types.byTypeUrl(typeUrl)?.type;
      const version = isCompleted ? wanted : from;
      const resource = version === undefined ? undefined : await this.content({ typeUrl, key, version });
      if (version !== undefined && resource === undefined) missing.push(key);
      if (type === undefined || (version !== undefined && resource === undefined)) return;
      prepared.set(idOf({ type, key }), { type, key, from, wanted, resource });
    };
    for (let at = 0; at < list.length; at += readAtOnce) await Promise.all(list.slice(at, at + readAtOnce).map(read));
    preparing.prepared = prepared;
    if (missing.length > 0) this.#missing(missing);
  }

  /** A content that the store has; undefined: it has it no more. */
  async content({ typeUrl, key, version }: { typeUrl: TypeUrl; key: ResourceName; version: Version }) {
    const { store, registry } = this.#sharing;
    const bytes = await store.content(typeUrl, key, version);
    if (bytes === undefined) return undefined;
    return decodeStored({ type: typeUrl, key, version, bytes }, { types: this.#types, registry });
  }

  #missing(keys: readonly ResourceName[]): void {
    const names = keys.slice(0, mostNamed).join(", ") + (keys.length > mostNamed ? `, … (${keys.length})` : "");
    const message = `a rollout keeps ${names} as before, but the store does not have that any more: nodes get the newest`;
    this.#trouble({ code: "XDSKIT_STORE", severity: "warning", message });
  }

  async #propose(group: string): Promise<void> {
    if (this.#isClosed || this.#proposing.has(group)) return;
    this.#proposing.add(group);
    try {
      for (let tries = 0; ; tries += 1) {
        const record = this.#records.of(group);
        const proposal = this.#sideOf(group)?.proposal(record);
        if (proposal === undefined || this.#isClosed) break;
        if (tries === mostConflicts) throw busy();
        await this.#records.write(group, record, proposal.next, proposal.list);
        // Those who hear of it answer first.
        await Promise.resolve();
      }
      this.#troubles.over();
    } catch (error) {
      this.#trouble(storeFinding(error));
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
    return [...(this.#sides.get(group) ?? [])].at(-1);
  }

  #later(run: () => void): void {
    if (this.#isClosed) return;
    const stop = this.#clock.after(retryMs, () => {
      this.#timers.delete(stop);
      run();
    });
    this.#timers.add(stop);
  }

  #trouble(finding: Finding): void {
    if (!this.#isClosed) this.#troubles.tell(finding);
  }
}

/** A completed rollout holds nothing back. */
function isHolding({ course: { phase } }: RolloutRecord): boolean {
  return phase !== "completed" && phase !== "withdrawn";
}

function busy(): XdskitError {
  return XdskitError.of("XDSKIT_BUSY", "others change this rollout again and again: try again in a moment");
}
