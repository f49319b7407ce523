import { appendFile } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import type { CallerRefused } from "@xdskit/server";
import type { AuditAction, AuditEntry, AuditQuery, AuditReader } from "../contract/audit.js";
import { newestEntries } from "./audit-lines.js";
import { Logins } from "./logins.js";

/** Of somebody who called at a port for clients and may not, or claimed to be a node that it may not be. */
export function refusedCall({ peer: from, called, rule, proved: who, claimed }: CallerRefused): NotedEntry {
  const node = claimed === undefined ? "" : ` as node ${claimed.id} of cluster ${claimed.cluster}`;
  const by = rule === undefined ? null : `identities[${rule}]`;
  return { who, rule: by, from, action: "call", target: `${called}${node}`, result: "refused" };
}

/** What the one who notes it says. */
type NotedEntry = Omit<AuditEntry, "time" | "lost" | "action"> & { readonly action: AuditAction };

/** Where the audit goes. */
export interface AuditOptions {
  /** Appends a line or several. Rejects if that cannot be now. */
  readonly append: (text: string) => Promise<void>;
  /** Where the lines can be read again; undefined: nowhere. */
  readonly file?: string | undefined;
  /** Told once when lines cannot be written, and with undefined when they can again. */
  readonly failing: (reason: string | undefined) => void;
  /** Milliseconds between two tries. */
  readonly retryMs?: number;
}

/** More lines do not wait for a file that cannot be written: the newest are kept. */
const maxWaiting = 10_000;
/** Whoever is refused again and again must not fill the disk: that many lines a second. */
const maxRefusals = 20;
const maxText = 500;

/** Appends lines of the audit in their order. Nobody waits for it. */
export class AuditLog implements AuditReader {
  readonly logins = new Logins();
  readonly #options: AuditOptions;
  #waiting: AuditEntry[] = [];
  #lost = 0;
  #isFailing = false;
  #isClosed = false;
  #writing: Promise<void> | undefined;
  readonly #closing = new AbortController();
  #second = 0;
  readonly #refusals = { clients: 0, admin: 0 };

  constructor(options: AuditOptions) {
    this.#options = options;
  }

  /** Texts from outside are cut. */
  add(entry: NotedEntry): void {
    const now = Date.now();
    if (this.#isClosed || (entry.result === "refused" && this.#isTooMany(entry, now))) {
      this.#lose();
      return;
    }
    const { who, target } = entry;
    const cut = { who: who === null ? null : who.slice(0, maxText), target: target.slice(0, maxText) };
    this.#waiting.push({ time: new Date(now).toISOString(), ...entry, ...cut });
    if (this.#waiting.length > maxWaiting) {
      this.#waiting.shift();
      this.#lose();
    }
    this.#writing ??= this.#write().finally(() => {
      this.#writing = undefined;
    });
  }

  async newest(query: AuditQuery, limit: number): ReturnType<AuditReader["newest"]> {
    const { file } = this.#options;
    return file === undefined ? undefined : newestEntries(file, query, limit);
  }

  #lose(): void {
    this.#lost += 1;
  }

  /** Counted apart: who floods the ports for clients must not hide who was refused at the admin listener. */
  #isTooMany({ action }: NotedEntry, now: number): boolean {
    const second = Math.floor(now / 1_000);
    if (second !== this.#second) Object.assign(this.#refusals, { clients: 0, admin: 0 });
    this.#second = second;
    this.#refusals[action === "call" ? "clients" : "admin"] += 1;
    return this.#refusals[action === "call" ? "clients" : "admin"] > maxRefusals;
  }

  async #write(): Promise<void> {
    const { append, failing, retryMs = 1_000 } = this.#options;
    while (this.#waiting.length > 0) {
      const [lines, lost] = [this.#waiting, this.#lost];
      this.#waiting = [];
      this.#lost = 0;
      try {
        const [first, ...more] = lines;
        await append(
          [lost > 0 ? { ...first, lost } : first, ...more].map((line) => `${JSON.stringify(line)}\n`).join(""),
        );
        if (this.#isFailing) failing(undefined);
        this.#isFailing = false;
      } catch (error) {
        if (!this.#isFailing) failing((error as NodeJS.ErrnoException).code ?? (error as Error).message);
        this.#isFailing = true;
        const all = [...lines, ...this.#waiting];
        this.#waiting = all.slice(-maxWaiting);
        this.#lost += lost + all.length - this.#waiting.length;
        if (this.#isClosed) return;
        await delay(retryMs, undefined, { ref: false, signal: this.#closing.signal }).catch(() => {});
      }
    }
  }

  /** Writes what waits, with one more try. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#closing.abort();
    await this.#writing;
  }
}

/** Appends to a file that its owner alone may read. It is opened each time: whoever rotates it may move it away. */
export function appendTo(file: string): AuditOptions["append"] {
  return (text) => appendFile(file, text, { mode: 0o600 });
}
