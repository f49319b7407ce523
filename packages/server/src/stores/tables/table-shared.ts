import { randomBytes } from "node:crypto";
import { XdskitError } from "@xdskit/api";
import type {
  SharedEntry,
  SharedKeys,
  SharedListener,
  SharedPut,
  SharedSession,
  SharedSessionOptions,
  SharedVersion,
  StoreWatch,
} from "../../contracts/stores/shared-keys.js";
import { LiveSession } from "../basics/live-session.js";
import { storeFinding } from "../basics/store-finding.js";
import { checkShared } from "./shared-limits.js";
import { onChange, type TablePoll } from "./table-poll.js";
import type { Reader, Tables, Writer } from "./tables.js";

/** An entry of the table `shared`. */
interface StoredEntry {
  readonly value: string;
  readonly version: SharedVersion;
  readonly session: string | undefined;
}

/** An entry of the table `sessions`: until when it is alive, and for how long its process said so. */
interface Alive {
  /** By the time of day, which is all that earlier versions write and read. */
  readonly until: number;
  /** By `clockMs`. */
  readonly end?: number;
  readonly ttlMs?: number;
}

/** In `meta`: counts what was written into `shared`. */
const countKey = "shared";

/**
 * Values that the processes of one machine share. A session is a time in a table, which its process moves on. They all
 * read one clock: that of the machine since its start, which nobody sets, and which stops while the machine sleeps.
 */
export class TableShared implements SharedKeys {
  readonly #tables: Tables;
  readonly #poll: TablePoll;
  readonly #sessions = new Set<LiveSession>();

  constructor(tables: Tables, poll: TablePoll) {
    this.#tables = tables;
    this.#poll = poll;
  }

  async list(prefix: string): Promise<readonly SharedEntry[]> {
    return this.#tables.read((reader) => entriesIn(reader, prefix));
  }

  async put({ key, value, expected, session }: SharedPut): Promise<SharedVersion | undefined> {
    checkShared(key, value);
    return await this.#write((writer) => {
      if (session !== undefined && !isAlive(writer, session.id)) throw sessionIsOver();
      const found = liveEntry(writer, key);
      if (expected !== "any" && found?.version !== expected) return undefined;
      const version = count(writer);
      writer.put("shared", key, { value, version, session: session?.id } satisfies StoredEntry);
      return version;
    });
  }

  async remove(key: string, expected: SharedVersion | "any"): Promise<boolean> {
    return await this.#write((writer) => {
      const found = liveEntry(writer, key);
      if (found === undefined) return true;
      if (expected !== "any" && found.version !== expected) return false;
      count(writer);
      writer.remove("shared", key);
      return true;
    });
  }

  async session(options: SharedSessionOptions): Promise<SharedSession> {
    const id = randomBytes(16).toString("base64url");
    const { ttlMs } = options;
    const now = clockMs;
    const asked = now();
    await this.#write((writer) => writer.put("sessions", id, aliveFor(ttlMs)));
    const renew = () => {
      const alive = aliveFor(ttlMs);
      return this.#write((writer) => {
        const isThere = isAlive(writer, id);
        if (isThere) writer.put("sessions", id, alive);
        return isThere;
      });
    };
    const end = () => this.#write((writer) => removeSession(writer, id));
    const session = new LiveSession({ id, now, renew, end }, asked, options, () => this.#sessions.delete(session));
    this.#sessions.add(session);
    return session;
  }

  watch(prefix: string, listener: SharedListener): StoreWatch {
    const look = onChange(this.#tables, {
      signature: (reader) => `${reader.get("meta", countKey)} ${this.#living(reader)}`,
      read: (reader) => entriesIn(reader, prefix),
      tell: onlyOthers((entries) => listener.entriesChanged(entries)),
      away: (error) => listener.away(storeFinding(error)),
    });
    return { close: this.#poll.add(look) };
  }

  /** Ends the sessions of this process. */
  async close(): Promise<void> {
    await Promise.allSettled([...this.#sessions].map((session) => session.close()));
  }

  /** The sessions that are alive. Those that are not are cleared away. */
  #living(reader: Reader): string {
    const living: string[] = [];
    let isAnyOver = false;
    for (const [id, alive] of reader.range<Alive>("sessions", "")) {
      if (isNow(alive)) living.push(id);
      else isAnyOver = true;
    }
    // A value that cannot be cleared away now is not seen either way.
    if (isAnyOver) setImmediate(() => void this.#write(clearAway).catch(() => {}));
    return living.join(" ");
  }

  async #write<T>(work: (writer: Writer) => T): Promise<T> {
    const result = await this.#tables.write(work);
    this.#poll.nudge();
    return result;
  }
}

function isAlive(reader: Reader, session: string): boolean {
  const alive = reader.get<Alive>("sessions", session);
  return alive !== undefined && isNow(alive);
}

function aliveFor(ttlMs: number): Alive {
  return { until: Date.now() + ttlMs, end: clockMs() + ttlMs, ttlMs };
}

/** After a start of the machine its clock begins anew: what was said before that is not alive. */
function isNow({ until, end, ttlMs }: Alive): boolean {
  if (end === undefined || ttlMs === undefined) return until > Date.now();
  const now = clockMs();
  return now < end && now >= end - ttlMs;
}

/** Milliseconds since the machine was started, for all of its processes. */
function clockMs(): number {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1_000 + nanoseconds / 1_000_000;
}

/** Undefined too where its session is over. */
function liveEntry(reader: Reader, key: string): StoredEntry | undefined {
  const entry = reader.get<StoredEntry>("shared", key);
  return entry?.session === undefined || isAlive(reader, entry.session) ? entry : undefined;
}

function entriesIn(reader: Reader, prefix: string): readonly SharedEntry[] {
  const found: SharedEntry[] = [];
  for (const [key] of reader.range<StoredEntry>("shared", prefix)) {
    const entry = liveEntry(reader, key);
    if (entry !== undefined) found.push({ key, value: entry.value, version: entry.version });
  }
  return found;
}

function count(writer: Writer): SharedVersion {
  const number = (writer.get<number>("meta", countKey) ?? 0) + 1;
  writer.put("meta", countKey, number);
  return `${number}`;
}

function clearAway(writer: Writer): void {
  const over = [...writer.range<Alive>("sessions", "")].filter(([, alive]) => !isNow(alive));
  for (const [id] of over) removeSession(writer, id);
}

function removeSession(writer: Writer, session: string): void {
  writer.remove("sessions", session);
  const own = [...writer.range<StoredEntry>("shared", "")].filter(([, entry]) => entry.session === session);
  for (const [key] of own) writer.remove("shared", key);
  if (own.length > 0) count(writer);
}

/** Leaves out what was told before: other entries changed, or other sessions. */
function onlyOthers(tell: (entries: readonly SharedEntry[]) => void): (entries: readonly SharedEntry[]) => void {
  let reported: string | undefined;
  return (entries) => {
    const now = entries.map(({ key, version }) => `${key} ${version}`).join("\n");
    if (now === reported) return;
    reported = now;
    tell(entries);
  };
}

function sessionIsOver(): XdskitError {
  return XdskitError.of("XDSKIT_STORE", "its session is over");
}
