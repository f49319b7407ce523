import { randomBytes } from "node:crypto";
import type { Clock, Finding, ResourceName, TypeUrl, Version } from "@xdskit/api";
import type { SharedEntry, SharedKeys, SharedSession, StoreWatch } from "../../../contracts/stores/shared-keys.js";
import { readAgainMs, sessionMs } from "../../../stores/basics/paces.js";
import { storeFinding } from "../../../stores/basics/store-finding.js";
import { rejectedKey, rejectedPrefix } from "../records/record.js";

/** A content that a client of some server rejected. */
export interface RejectedContent {
  readonly type: TypeUrl;
  readonly key: ResourceName;
  readonly version?: Version | undefined;
  /** What later clients have in its place; undefined: nothing. */
  readonly instead?: Version | undefined;
  readonly node: string;
  readonly message: string;
  /** In milliseconds since 1970. */
  readonly since: number;
}

/** What the rejected contents of several servers are known by. */
export interface RejectedContentsOptions {
  readonly shared: SharedKeys;
  readonly clock: Clock;
  /** What other servers say of a group is another list now. */
  readonly onChanged: (group: string) => void;
  readonly problem: (finding: Finding) => void;
}

/** What one server says of one group. */
interface SharedRejections {
  readonly group: string;
  readonly contents: readonly RejectedContent[];
}

/** A value of another server, as it was written and read. */
interface OthersValue {
  readonly value: string;
  readonly rejections: SharedRejections;
}

/** The most contents of a group that are told, and the most characters of each client's message. */
const maxContents = 500;
const maxMessage = 200;

/**
 * Tells the other servers which contents clients of this one rejected, and hears of theirs. What a server said ends
 * with it: its clients come to others, and say there what they reject.
 */
export class RejectedContents {
  readonly #options: RejectedContentsOptions;
  readonly #own = randomBytes(9).toString("base64url");
  readonly #watch: StoreWatch;
  /** By group: what must be reported, and what was. */
  readonly #wanted = new Map<string, string>();
  readonly #rejections = new Map<string, string>();
  /** What others say, by key. */
  #others = new Map<string, OthersValue>();
  #session: SharedSession | undefined;
  #isClosed = false;
  #writing: Promise<void> | undefined;
  #stop: (() => void) | undefined;

  constructor(options: RejectedContentsOptions) {
    this.#options = options;
    this.#watch = options.shared.watch(rejectedPrefix, {
      entriesChanged: (entries) => this.#hear(entries),
      away: () => {},
    });
  }

  /** Reads what others say now. */
  async read(): Promise<void> {
    this.#hear(await this.#options.shared.list(rejectedPrefix));
  }

  /** What clients of other servers rejected. */
  others(group: string): readonly RejectedContent[] {
    return [...this.#others.values()].flatMap(({ rejections }) =>
      rejections.group === group ? rejections.contents : [],
    );
  }

  /** Says this of a group from now on. */
  tell(group: string, contents: readonly RejectedContent[]): void {
    const sent = contents.slice(-maxContents).map((each) => ({ ...each, message: each.message.slice(0, maxMessage) }));
    if (sent.length === 0 && !this.#wanted.has(group)) return;
    this.#wanted.set(
      group,
      sent.length === 0 ? "" : JSON.stringify({ group, contents: sent } satisfies SharedRejections),
    );
    this.#write();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#watch.close();
    this.#stop?.();
    await this.#writing;
    await this.#session?.close().catch(() => {});
  }

  #write(): void {
    if (this.#isClosed || this.#writing !== undefined) return;
    this.#writing = this.#writeAll()
      .catch((error: unknown) => {
        this.#options.problem(storeFinding(error));
        this.#stop = this.#options.clock.after(readAgainMs, () => this.#write());
      })
      .finally(() => {
        this.#writing = undefined;
      });
  }

  async #writeAll(): Promise<void> {
    for (;;) {
      const [next] = [...this.#wanted].filter(([group, value]) => (this.#rejections.get(group) ?? "") !== value);
      if (next === undefined || this.#isClosed) return;
      const [group, value] = next;
      const key = rejectedKey(group, this.#own);
      const { shared } = this.#options;
      if (value === "") {
        await shared.remove(key, "any");
        this.#rejections.delete(group);
        if (this.#wanted.get(group) === "") this.#wanted.delete(group);
        continue;
      }
      await shared.put({ key, value, expected: "any", session: await this.#openSession() });
      this.#rejections.set(group, value);
    }
  }

  async #openSession(): Promise<SharedSession> {
    if (this.#session !== undefined && !this.#session.isOver) return this.#session;
    const lost = () => {
      this.#rejections.clear();
      this.#write();
    };
    this.#session = await this.#options.shared.session({ ttlMs: sessionMs, lost });
    return this.#session;
  }

  #hear(entries: readonly SharedEntry[]): void {
    const before = this.#others;
    this.#others = new Map();
    for (const { key, value } of entries) {
      if (key.endsWith(this.#own)) continue;
      const known = before.get(key);
      this.#others.set(
        key,
        known?.value === value ? known : { value, rejections: JSON.parse(value) as SharedRejections },
      );
    }
    const changed = [...before, ...this.#others].filter(([key]) => before.get(key) !== this.#others.get(key));
    const groups = new Set(changed.map(([, { rejections }]) => rejections.group));
    for (const group of groups) this.#options.onChanged(group);
  }
}
