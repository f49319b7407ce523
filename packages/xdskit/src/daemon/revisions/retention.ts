import type { Retention, RolloutState, SharedRollouts, Store, XdsServer } from "@xdskit/server";
import type { Settings } from "../../settings/schema.js";
import { usualHistory } from "../../settings/usual-settings.js";

type StateSettings = Settings["state"];

/**
 * The number of newest revisions that stay, however old they are. The server looks in them for what clients have that
 * come back after a restart.
 */
const leastRevisions = 10;

/** A change is in the store a while before its rollout begins. */
const beforeRolloutMs = 600_000;

/** A change is in the store a moment before clients are sent it, and the clocks of servers differ a little. */
const beforeServedMs = 60_000;

/** The longest time between two looks at the clients: a look costs all of them, and each change asks. */
const lookAtClientsMs = 60_000;

/** How often history is looked at, in milliseconds: it grows old while nothing changes, too. */
const lookMs = 3_600_000;

const over: ReadonlySet<RolloutState> = new Set(["completed", "withdrawn"] as const);

interface KeptHistoryOptions {
  readonly settings: StateSettings;
  readonly server: Pick<XdsServer, "rollouts" | "quarantines" | "oldestInUse">;
  /** Undefined: no history is kept. */
  readonly store: Store | undefined;
  /** The history could not be looked at. */
  readonly failed: (error: Error) => void;
  /** Milliseconds from one look to the next. Default: an hour. */
  readonly everyMs?: number | undefined;
}

/** Removes history that is too old, while a server runs: by the settings in use, except what is still needed. */
export class KeptHistory {
  readonly #options: KeptHistoryOptions;
  readonly #timer: NodeJS.Timeout | undefined;
  #settings: StateSettings;
  #shared: Pick<SharedRollouts, "neededSince"> | undefined;
  #used: { readonly since: number; readonly seenAt: number } | undefined;

  constructor(options: KeptHistoryOptions) {
    const { store, settings, everyMs = lookMs } = options;
    this.#options = options;
    this.#settings = settings;
    this.#timer = store && setInterval(() => void this.#look(), everyMs).unref();
  }

  /** What history to keep now. */
  readonly now = (): Retention => {
    const { revisions = usualHistory.revisions, leases = usualHistory.leases } = this.#settings ?? {};
    const { age = usualHistory.ageMs } = this.#settings ?? {};
    const began = this.#options.server
      .rollouts()
      .filter(({ state, group }) => (state === "rolled-back" ? this.#keepsBack(group) : !over.has(state)))
      .map(({ startedAt }) => startedAt.getTime());
    const needed = this.#shared?.neededSince;
    if (needed !== undefined) began.push(needed);
    const inUseSince = began.length === 0 ? undefined : Math.min(...began) - beforeRolloutMs;
    const usedSince = this.#usedSince();
    return { revisions, leases, since: Date.now() - age, least: leastRevisions, inUseSince, usedSince };
  };

  /** Rollouts are one for all servers of the store: they are known before this one's groups are. */
  share(rollouts: Pick<SharedRollouts, "neededSince">): void {
    this.#shared = rollouts;
  }

  /** Other settings are in use now. */
  async use(settings: StateSettings): Promise<void> {
    this.#settings = settings;
    await this.#look();
  }

  close(): void {
    clearInterval(this.#timer);
  }

  /** Since the last look, no client can have fallen further behind than to what was the newest then. */
  #usedSince(): number | undefined {
    const now = Date.now();
    if (this.#used === undefined || now - this.#used.seenAt >= lookAtClientsMs) {
      const { server } = this.#options;
      const oldest = server.oldestInUse()?.getTime();
      const heldBack = server.quarantines().map(({ since }) => since.getTime());
      this.#used = oldest === undefined ? undefined : { since: Math.min(oldest, now, ...heldBack), seenAt: now };
    }
    return this.#used && this.#used.since - beforeServedMs;
  }

  /** Nodes have what was there before, in place of what was rolled back. */
  #keepsBack(rolledBack: string): boolean {
    return this.#options.server
      .quarantines()
      .some(({ group, cause }) => group === rolledBack && cause === "rolled-back");
  }

  async #look(): Promise<void> {
    const { store, failed } = this.#options;
    await store?.retain(this.now()).catch(failed);
  }
}
