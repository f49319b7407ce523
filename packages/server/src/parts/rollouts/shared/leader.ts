import { Alarm, type Clock, type Finding } from "@xdskit/api";
import type { RolloutPeer, RolloutSharing } from "../../../contracts/rollouts/rollout-sharing.js";
import type { SharedKeys, SharedSession, SharedVersion, StoreWatch } from "../../../contracts/stores/shared-keys.js";
import { readAgainMs, sessionMs } from "../../../stores/basics/paces.js";
import { storeFinding } from "../../../stores/basics/store-finding.js";
import { type Course, decide, dueIn, ended, isOver } from "../course/course.js";
import type { RolloutRecord } from "../records/record.js";
import type { RecordStore } from "../records/record-store.js";
import { type CountJson, countIn, silentCount } from "./count-json.js";
import type { ServerCount } from "./group-side.js";

/** The options of a leader of rollouts. */
export interface LeaderOptions {
  readonly shared: SharedKeys;
  readonly clock: Clock;
  /** The name of this server among others. */
  readonly replica: string;
  readonly records: RecordStore;
  readonly peers: RolloutSharing["peers"];
  /** The answers of this server's nodes. */
  readonly count: (record: RolloutRecord) => ServerCount | undefined;
  readonly problem: (finding: Finding) => void;
}

const leaderKey = "rollouts/leader";
/** How often to ask all servers while a rollout waits, and while only time must pass, in milliseconds. */
const oftenMs = 200;
const seldomMs = 1_000;
/** Nodes answer one after the other: they are not asked anew for each. */
const leastMs = 50;

interface SeenCounts {
  readonly phase: string;
  readonly at: number;
}

/**
 * Leads the rollouts under way, if this server is the one that has the lease: asks all servers, decides, and writes
 * what follows. Two servers that both believe they lead do no harm, since a record changes only from the version that
 * the writer knows. A soak time is counted from when this server heard that it began, so that it is never shorter.
 */
export class Leader {
  readonly #options: LeaderOptions;
  readonly #watch: StoreWatch;
  readonly #seen = new Map<string, SeenCounts>();
  #session: SharedSession | undefined;
  /** The version of the lease that it wrote last. */
  #lease: SharedVersion | undefined;
  #isFree = false;
  #isLeading = false;
  #isRunning = false;
  /** Something was heard since the round began. */
  #isNudged = false;
  #isClosed = false;
  /** When it looked last. */
  #looked = Number.NEGATIVE_INFINITY;
  readonly #alarm: Alarm;
  #running: Promise<void> | undefined;

  constructor(options: LeaderOptions) {
    this.#options = options;
    this.#alarm = new Alarm(options.clock, () => this.#run());
    this.#watch = options.shared.watch(leaderKey, {
      entriesChanged: (entries) => {
        this.#isFree = entries.length === 0;
        if (this.#isFree) this.#isLeading = false;
        this.notified();
      },
      away: () => {},
    });
  }

  /** Records are others now. */
  notified(): void {
    const now = this.#options.clock.now();
    for (const { group, id, course } of this.#underWay()) {
      const phase = `${id} ${course.list} ${course.round} ${course.phase}`;
      if (this.#seen.get(group)?.phase !== phase) this.#seen.set(group, { phase, at: now });
    }
    this.nudge();
  }

  /** It looks again soon. */
  nudge(): void {
    this.#isNudged = true;
    if (this.#isClosed || this.#isRunning) return;
    // The watch may have been late: the lease of another one may be gone without a word.
    this.#alarm.set(this.#looked + (this.#isFree || this.#isLeading ? leastMs : sessionMs));
  }

  /** The answers of all servers that it knows, by group; this one first. */
  async counts(isWhole: boolean): Promise<ReadonlyMap<string, readonly ServerCount[]>> {
    return await this.#countsOf((await this.#options.peers()) ?? [], isWhole);
  }

  async #countsOf(
    others: readonly RolloutPeer[],
    isWhole: boolean,
  ): Promise<ReadonlyMap<string, readonly ServerCount[]>> {
    const { count, replica } = this.#options;
    const answers = await Promise.all(
      others.map(async ({ name, counts }) => {
        const counted = await counts({ isWhole }).catch(() => []);
        return { name, counted: counted as readonly CountJson[] };
      }),
    );
    return new Map(
      this.#underWay().map((record) => {
        const own = { ...(count(record) ?? silentCount(replica)), server: replica };
        const theirs = answers.map(({ name, counted }) => {
          return countIn(
            counted.find(({ group }) => group === record.group),
            record,
            name,
          );
        });
        return [record.group, [own, ...theirs]];
      }),
    );
  }

  /** Another server leads at once. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#watch.close();
    this.#alarm.set(undefined);
    await this.#running;
    await this.#session?.close().catch(() => {});
  }

  #underWay(): readonly RolloutRecord[] {
    return this.#options.records.all.filter(({ course }) => !isOver(course));
  }

  #run(): void {
    if (this.#isRunning || this.#isClosed) return;
    this.#isRunning = true;
    this.#isNudged = false;
    this.#looked = this.#options.clock.now();
    this.#running = this.#round()
      .catch((error: unknown) => {
        this.#options.problem(storeFinding(error));
        return readAgainMs;
      })
      .then((afterMs) => {
        this.#isRunning = false;
        if (afterMs !== undefined && !this.#isClosed) this.#alarm.set(this.#options.clock.now() + afterMs);
        else if (this.#isNudged) this.nudge();
      });
  }

  /** Returns after how many milliseconds to look again; undefined: once something is heard. */
  async #round(): Promise<number | undefined> {
    const underWay = this.#underWay();
    if (underWay.length === 0) {
      this.#seen.clear();
      await this.#resign();
      return undefined;
    }
    const peers = await this.#options.peers();
    if (peers === undefined) {
      // It would decide about nodes of others without their answers.
      await this.#resign();
      return this.#isFree ? oftenMs : sessionMs;
    }
    if (this.#session?.isOver) this.#isLeading = false;
    // Servers that joined meanwhile are asked, too.
    if (!this.#isLeading) return (await this.#campaign()) ? 0 : sessionMs;
    const due = new Set(underWay.filter((record) => this.#isDue(record)).map(({ group }) => group));
    const counts = await this.#countsOf(peers, due.size > 0);
    let isMoving = false;
    for (const record of underWay) {
      const next = decided(record.course, counts.get(record.group) ?? [], due.has(record.group));
      if (next === undefined || this.#isClosed) continue;
      isMoving = true;
      const isPhase = next.phase !== record.course.phase || next.round !== record.course.round;
      const since = isPhase ? Date.now() : record.since;
      await this.#options.records.write(record.group, record, { ...record, course: next, since });
    }
    if (isMoving) return 0;
    const isWaiting = underWay.some(({ course: { phase } }) => phase === "choosing" || phase === "waiting");
    return isWaiting ? oftenMs : Math.min(seldomMs, ...underWay.map((record) => this.#leftMs(record)));
  }

  #isDue(record: RolloutRecord): boolean {
    return this.#leftMs(record) <= 0;
  }

  #leftMs({ group, course }: RolloutRecord): number {
    const due = dueIn(course);
    const at = this.#seen.get(group)?.at;
    return due === undefined || at === undefined ? Number.POSITIVE_INFINITY : at + due - this.#options.clock.now();
  }

  /** What was heard of the lease may be older than what was written: the store says who has it. */
  async #campaign(): Promise<boolean> {
    const { shared, replica } = this.#options;
    const found = (await shared.list(leaderKey)).find(({ key }) => key === leaderKey);
    if (found !== undefined) {
      this.#isFree = false;
      this.#isLeading = found.version === this.#lease && this.#session?.isOver === false;
      return this.#isLeading;
    }
    await this.#resign();
    const lost = () => {
      // It may lead by a later session.
      if (this.#session?.isOver === false) return;
      this.#isLeading = false;
      this.notified();
    };
    const session = await shared.session({ ttlMs: sessionMs, lost });
    const version = await shared
      .put({ key: leaderKey, value: replica, expected: undefined, session })
      .catch(async (error: unknown) => {
        await session.close().catch(() => {});
        throw error;
      });
    if (version === undefined || this.#isClosed) {
      this.#isFree = false;
      await session.close();
      return false;
    }
    this.#session = session;
    this.#lease = version;
    this.#isLeading = true;
    return true;
  }

  /** No lease is kept alive without need. */
  async #resign(): Promise<void> {
    this.#isLeading = false;
    const session = this.#session;
    this.#session = undefined;
    await session?.close();
  }
}

/** Where no server has a node that acknowledges, nothing can break, and nothing can be proven: all may have it. */
function decided(course: Course, counts: readonly ServerCount[], isDue: boolean): Course | undefined {
  const isFirst = course.phase === "choosing" && course.step === 0 && course.list === 1;
  const isDeserted = counts.every((count) => count.turn === course.turn && count.isDeserted);
  return isFirst && isDeserted && counts.length > 0 ? ended(course, "completed") : decide(course, counts, isDue);
}
