import { type Finding, XdskitError } from "@xdskit/api";
import { SharedRuns } from "../../../basics/shared-runs.js";
import {
  maxSharedValue,
  type SharedEntry,
  type SharedKeys,
  type SharedVersion,
  type StoreWatch,
} from "../../../contracts/stores/shared-keys.js";
import {
  courseKey,
  courses,
  inOneOrder,
  listPrefix,
  listsOf,
  type RecordedChange,
  type RolloutRecord,
} from "./record.js";

/** A record, and the version by which it can be replaced. */
interface KnownRecord {
  readonly record: RolloutRecord;
  readonly version: SharedVersion;
}

/** By group. */
type ReportedRecords = ReadonlyMap<string, KnownRecord>;

/** The parts with which a change is written. */
export type NextRecord = Omit<RolloutRecord, "group" | "writes">;

/** Hears of records. */
export interface RecordListener {
  /** The record of this group is another one now. */
  recordChanged(group: string): void;
  /** The store has told all records. */
  reported(): void;
  /** It cannot be read. */
  away(finding: Finding): void;
}

export function othersAreFaster(): XdskitError {
  return XdskitError.of("XDSKIT_BUSY", "others change this rollout again and again: try again in a moment");
}

/**
 * The records of all groups, as this server has heard of them. A record changes only by compare-and-swap from the
 * version that the writer knows, so that all servers see one line of courses. Values that come late are left out.
 */
export class RecordStore {
  readonly #shared: SharedKeys;
  readonly #recordChanged: (group: string) => void;
  readonly #watch: StoreWatch;
  readonly #reads = new SharedRuns(() => this.read());
  readonly #known = new Map<string, KnownRecord>();
  #isRead = false;
  #isAway = false;
  #lookingAgain: Promise<void> | undefined;

  constructor(shared: SharedKeys, listener: RecordListener) {
    this.#shared = shared;
    this.#recordChanged = (group) => listener.recordChanged(group);
    const entriesChanged = (entries: readonly SharedEntry[]) => {
      this.#isAway = false;
      listener.reported();
      const reported = recordsIn(entries);
      this.#take(reported);
      // The listener of the store is told when it cannot be read.
      if (this.#isBehind(reported)) this.#lookAgain().catch(() => {});
    };
    const away = (finding: Finding) => {
      this.#isAway = true;
      listener.away(finding);
    };
    this.#watch = shared.watch(courses, { entriesChanged, away });
  }

  of(group: string): RolloutRecord | undefined {
    return this.#known.get(group)?.record;
  }

  get all(): readonly RolloutRecord[] {
    return Array.from(this.#known.values(), ({ record }) => record);
  }

  /** Whether the records were read at least once. */
  get isRead(): boolean {
    return this.#isRead;
  }

  /** What others have written by now is known then. Undefined: the store says that it cannot be read. */
  catchUp(): Promise<void> | undefined {
    return this.#isAway ? undefined : this.#reads.run();
  }

  /** Reads all that there is now. */
  async read(): Promise<void> {
    this.#take(recordsIn(await this.#shared.list(courses)));
  }

  /**
   * Writes what comes after the known record of a group; false: another server was faster, and what it wrote is known
   * now. `list`: of a change that the known record does not have.
   */
  async write(
    group: string,
    from: RolloutRecord | undefined,
    next: NextRecord,
    list?: Iterable<RecordedChange>,
  ): Promise<boolean> {
    const known = this.#known.get(group);
    if (known?.record.writes !== from?.writes) return false;
    const record: RolloutRecord = { ...next, group, writes: (from?.writes ?? 0) + 1 };
    const before = list === undefined ? [] : await this.#shared.list(listsOf(group));
    if (list !== undefined) await this.#putList(record, list);
    // Endless times become null: see `timesIn`.
    const value = JSON.stringify(record);
    const version = await this.#shared.put({ key: courseKey(group), value, expected: known?.version });
    if (version === undefined) {
      await this.#lookAgain();
      return false;
    }
    this.#note({ record, version });
    // Also lists of servers that were slower. Only these versions: whoever proposes a change again puts its list again
    // before.
    for (const { key, version: old } of before) if (!key.startsWith(listPrefix(record))) await this.#remove(key, old);
    return true;
  }

  /** The list of a record's change; undefined: the record is replaced by now. */
  async list(record: RolloutRecord): Promise<readonly RecordedChange[] | undefined> {
    const entries = await this.#shared.list(listPrefix(record));
    if (entries.length === 0) return undefined;
    return entries.flatMap(({ value }) => JSON.parse(value) as readonly RecordedChange[]);
  }

  close(): void {
    this.#watch.close();
  }

  /** Whether the store has told something older than what is known, or nothing at all of a group. */
  #isBehind(reported: ReportedRecords): boolean {
    return [...this.#known].some(([group, { version }]) => reported.get(group)?.version !== version);
  }

  /**
   * Reads all that there is now, also what is older than what was known before it was read: then the store was restored
   * from a backup.
   */
  async #lookAgain(): Promise<void> {
    this.#lookingAgain ??= this.#replaceOlder().finally(() => {
      this.#lookingAgain = undefined;
    });
    await this.#lookingAgain;
  }

  async #replaceOlder(): Promise<void> {
    const before = [...this.#known];
    const now = recordsIn(await this.#shared.list(courses));
    this.#take(now);
    for (const [group, known] of before) {
      const found = now.get(group);
      if (this.#known.get(group) !== known || found?.version === known.version) continue;
      if (found === undefined) this.#known.delete(group);
      else this.#known.set(group, found);
      this.#recordChanged(group);
    }
  }

  async #putList(record: RolloutRecord, list: Iterable<RecordedChange>): Promise<void> {
    // Servers that propose the same change write the same parts, whoever writes which of them.
    for (const [index, part] of partsOf(inOneOrder(list)).entries())
      await this.#shared.put({ key: `${listPrefix(record)}${index}`, value: part, expected: "any" });
  }

  /** What is left of a list does no harm. */
  async #remove(key: string, version: SharedVersion): Promise<void> {
    await this.#shared.remove(key, version).catch(() => {});
  }

  #take(reported: ReportedRecords): void {
    this.#isRead = true;
    for (const found of reported.values()) this.#note(found);
  }

  #note(found: KnownRecord): void {
    const { group, writes } = found.record;
    const known = this.#known.get(group);
    if (known !== undefined && known.record.writes >= writes) return;
    this.#known.set(group, found);
    this.#recordChanged(group);
  }
}

function recordsIn(entries: readonly SharedEntry[]): ReportedRecords {
  const found = new Map<string, KnownRecord>();
  for (const { value, version } of entries) {
    const record = recordIn(value);
    if (record !== undefined) found.set(record.group, { record, version });
  }
  return found;
}

function recordIn(value: string): RolloutRecord | undefined {
  try {
    const record = JSON.parse(value) as RolloutRecord;
    if (typeof record.group !== "string" || typeof record.course?.turn !== "number") return undefined;
    const { settings } = record.course;
    return { ...record, course: { ...record.course, settings: { ...settings, ...timesIn(settings) } } };
  } catch {
    return undefined;
  }
}

/** JSON has no `Infinity`: it is null there, as no other time is. */
function timesIn({ soakMs, timeoutMs }: { readonly soakMs: number | null; readonly timeoutMs: number | null }) {
  return { soakMs: soakMs ?? Infinity, timeoutMs: timeoutMs ?? Infinity };
}

/** JSON lists, at least one. */
function partsOf(list: Iterable<RecordedChange>): readonly string[] {
  const parts: string[] = [];
  let part: string[] = [];
  let length = 0;
  const end = () => {
    parts.push(`[${part.join(",")}]`);
    part = [];
    length = 0;
  };
  for (const each of list) {
    const text = JSON.stringify(each);
    if (length > 0 && length + text.length + 2 > maxSharedValue) end();
    part.push(text);
    length += text.length + 1;
  }
  end();
  return parts;
}
