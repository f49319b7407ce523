import { isDeepStrictEqual } from "node:util";
import { type Clock, systemClock } from "@xdskit/api";
import type { KubernetesConnection } from "../connection/connection.js";
import { gatewayApi } from "../objects/mesh-route.js";
import { rejectedType, type WantedStatus } from "../resources/attached/route-status.js";
import { KubernetesApiError } from "../watching/api-error.js";
import { sendJson } from "../watching/api-request.js";
import { createRetries } from "../watching/retries.js";
import { changedParents, type ObjectStatus, othersRejectionMs } from "./status-change.js";

/** How statuses are written. */
export interface StatusWriterOptions {
  readonly connection: KubernetesConnection;
  /** One could not be written, or one could again (undefined). */
  readonly failed: (error: Error | undefined) => void;
  readonly clock?: Clock | undefined;
}

interface WaitingStatus {
  wanted: WantedStatus | undefined;
  current: ObjectStatus | undefined;
  /** What was to be when it was written last. */
  written: WantedStatus | undefined;
  /** What this server said last of rejections. */
  ownRejections: ReadonlySet<string>;
  /** When it may be written again, and until when that counts as soon, by the clock. */
  freeAt: number;
  calmAt: number;
  pauseMs: number;
}

/**
 * Who writes one status again and again has somebody against it, such as a server of another version that says the same
 * in other words. Each time it waits longer, up to a minute.
 */
const [firstPauseMs, longestPauseMs, calmMs] = [250, 60_000, 10_000];

/**
 * Writes the status of routes where it is not as it should be, one after the other. All servers write the same; one
 * that another has just written is read again first, by the watch.
 */
export class StatusWriter {
  readonly #options: StatusWriterOptions;
  readonly #clock: Clock;
  readonly #end = new AbortController();
  readonly #entries = new Map<string, WaitingStatus>();
  readonly #due = new Set<string>();
  #writing: Promise<void> | undefined;
  #forget: (() => void) | undefined;
  /** Of those that wait. */
  readonly #forgets = new Map<string, () => void>();

  constructor(options: StatusWriterOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
  }

  /** What the status of a route is to be; undefined: the route is gone. */
  want(key: string, wanted: WantedStatus | undefined): void {
    this.#set(key, { wanted });
  }

  /** What the status of a route is; undefined: the route is gone. */
  hold(key: string, current: ObjectStatus | undefined): void {
    this.#set(key, { current });
  }

  async close(): Promise<void> {
    this.#end.abort();
    this.#forget?.();
    for (const forget of this.#forgets.values()) forget();
    await this.#writing;
  }

  #set(key: string, change: Partial<WaitingStatus>): void {
    const entry = { ...(this.#entries.get(key) ?? unknown), ...change };
    if (entry.wanted === undefined && entry.current === undefined) this.#entries.delete(key);
    else this.#entries.set(key, entry);
    this.#due.add(key);
    this.#begin();
  }

  #begin(): void {
    if (this.#end.signal.aborted || this.#writing !== undefined) return;
    this.#writing = this.#run().finally(() => {
      this.#writing = undefined;
      if (this.#due.size > 0) this.#begin();
    });
  }

  async #run(): Promise<void> {
    const { signal } = this.#end;
    const retries = createRetries();
    // What is reported in one turn is one change.
    await undefined;
    for (const key of this.#due) {
      if (signal.aborted) return;
      this.#due.delete(key);
      try {
        await this.#write(key);
        retries.reset();
      } catch (error) {
        if (signal.aborted) return;
        // Gone, or changed meanwhile: the watch tells.
        if (error instanceof KubernetesApiError && (error.status === 404 || error.status === 409)) continue;
        this.#due.add(key);
        this.#options.failed(error as Error);
        await retries.wait(signal, error instanceof KubernetesApiError ? error.retryAfterMs : undefined);
      }
    }
    this.#planLook();
  }

  async #write(key: string): Promise<void> {
    const entry = this.#entries.get(key);
    if (entry?.wanted === undefined || entry.current === undefined) return;
    const { wanted, current, ownRejections } = entry;
    const parents = changedParents(current, wanted, { now: Date.now(), ownRejections });
    // What is new is no answer to somebody.
    const isAgain = isDeepStrictEqual(entry.written, wanted);
    if (parents === undefined || (isAgain && this.#waits(key, entry))) return;
    const body = { metadata: { resourceVersion: current.resourceVersion }, status: { parents } };
    const path = `${pathOf(key)}/status`;
    await sendJson(this.#options.connection, { method: "PATCH", path, body }, this.#end.signal);
    this.#options.failed(undefined);
    const now = this.#entries.get(key);
    if (now === undefined) return;
    const at = this.#clock.now();
    now.pauseMs = isAgain && at < now.calmAt ? Math.min(Math.max(firstPauseMs, 2 * now.pauseMs), longestPauseMs) : 0;
    now.freeAt = at + now.pauseMs;
    now.calmAt = now.freeAt + calmMs;
    now.written = wanted;
    now.ownRejections = new Set(rejectionsIn(wanted.parents));
    // The watch tells what it is now, if it has not done so already.
    if (now.current === current) now.current = undefined;
  }

  /** Whether it is too early to write it; then that is done later. */
  #waits(key: string, { freeAt }: WaitingStatus): boolean {
    const ms = freeAt - this.#clock.now();
    if (ms <= 0) return false;
    this.#forgets.get(key)?.();
    this.#forgets.set(
      key,
      this.#clock.after(ms, () => {
        this.#forgets.delete(key);
        this.#due.add(key);
        this.#begin();
      }),
    );
    return true;
  }

  /** What other servers say of rejections ends some time, if nobody says it again. */
  #planLook(): void {
    this.#forget?.();
    const keys = Array.from(this.#entries).flatMap(([key, { current }]) => {
      return rejectionsIn(current?.parents ?? []).length > 0 ? [key] : [];
    });
    if (keys.length === 0 || this.#end.signal.aborted) return;
    this.#forget = this.#clock.after(othersRejectionMs, () => {
      for (const key of keys) this.#due.add(key);
      this.#begin();
    });
  }
}

const unknown: WaitingStatus = {
  wanted: undefined,
  current: undefined,
  written: undefined,
  ownRejections: new Set<string>(),
  freeAt: 0,
  calmAt: 0,
  pauseMs: 0,
};

/** What a status says of rejections. */
function rejectionsIn(parents: WantedStatus["parents"] | ObjectStatus["parents"]): readonly string[] {
  return parents.flatMap(({ conditions = [] }) =>
    conditions.flatMap(({ type, message }) => (type === rejectedType ? message : [])),
  );
}

/** `GRPCRoute shop/cart`: where the API server has it. */
function pathOf(key: string): string {
  const [kind = "", object = ""] = key.split(" ");
  const [namespace = "", name = ""] = object.split("/");
  return `/apis/${gatewayApi}/namespaces/${encodeURIComponent(namespace)}/${kind.toLowerCase()}s/${encodeURIComponent(name)}`;
}
