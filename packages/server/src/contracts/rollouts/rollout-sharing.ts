import type { Finding, Registry } from "@xdskit/api";
import type { Store } from "../stores/store.js";

/** Another server that carries the same rollouts out. */
export interface RolloutPeer {
  /** For people. */
  readonly name: string;
  /** Asks `SharedRollouts.counts` there. Rejects if it does not answer in time. */
  counts(asked: unknown): Promise<unknown>;
}

/** What rollouts of several servers are shared with. */
export interface RolloutSharing {
  /** Has the rollouts in its shared keys, and the contents from before in its revisions. */
  readonly store: Pick<Store, "shared" | "content" | "heads">;
  /** Reads the contents. */
  readonly registry: Registry;
  /** What the others call this server. */
  readonly replica: string;
  /** All other servers now; undefined: they are not known, and this server leads no rollout. */
  readonly peers: () => readonly RolloutPeer[] | undefined | Promise<readonly RolloutPeer[] | undefined>;
  /** What goes wrong; it is tried again. Undefined: it is well again. */
  readonly problem: (finding: Finding | undefined) => void;
}

/** What can be done with a rollout by hand. */
export type RolloutAction = "promote" | "rollBack" | "halt" | "resume";

/** What came of it. `other`: a rollout with another id is there by now. `nothing`: it does not apply. */
export type RolloutLed = "done" | "nothing" | "other";

/** The rollouts that a server shares with others. */
export interface SharedRollouts {
  /** What this server's nodes say of the rollouts under way, as JSON, for the server that leads them. */
  counts(asked: unknown): unknown;
  /**
   * Leads the rollout of a group by hand, for all servers. `id`: only if it is this one. Rejects with XDSKIT_STORE
   * while the store cannot be written.
   */
  lead(
    group: string,
    action: RolloutAction,
    options?: { readonly id?: number | undefined; readonly reason?: string | undefined },
  ): Promise<RolloutLed>;
  /**
   * When the oldest rollout began that needs what was there before: it is under way, or keeps from nodes what was
   * rolled back. In milliseconds since 1970. 0: the records are not read yet, and any may be there. Undefined: there is
   * none.
   */
  readonly neededSince: number | undefined;
  /** Another server leads from now on. */
  close(): Promise<void>;
}
