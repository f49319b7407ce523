import type { Version } from "@xdskit/api";
import type { RolloutStep } from "../settings/rollout-settings.js";

/**
 * - `waiting`: the nodes of the step have not all acknowledged the change.
 * - `soaking`: they have, and the soak time runs.
 * - `halted`: it goes no further by itself; `reason` says why.
 * - `completed`: all nodes get it.
 * - `rolled-back`: no node gets it.
 * - `withdrawn`: nothing of it is left: its resources are as before, or were changed for all nodes at once.
 */
export type RolloutState = "waiting" | "soaking" | "halted" | "completed" | "rolled-back" | "withdrawn";

/** What a node said against a change. */
export interface RolloutRejection {
  readonly node: string;
  readonly type: string;
  readonly version: Version;
  readonly code: number;
  readonly message: string;
  readonly at: Date;
}

/** A change that goes to the nodes of a group by steps. */
export interface RolloutStatus {
  /** Counted from 1; unique in the life of a server. A change on top of one that is under way joins it. */
  readonly id: number;
  readonly group: string;
  readonly state: RolloutState;
  /** Why it halted; empty if it did not. */
  readonly reason: string;
  /** Which step it is at, from 1. */
  readonly step: number;
  readonly steps: readonly RolloutStep[];
  readonly startedAt: Date;
  /** Since when it is in this state. */
  readonly since: Date;
  /** How many resources it changes, and which: at most 100. */
  readonly changed: number;
  readonly resources: readonly { readonly type: string; readonly name: string }[];
  /**
   * Node ids with streams. `held`: those that keep the content from before. Of the others, `pending` have not
   * acknowledged the change yet. For a rollout that is over: as of its end.
   */
  readonly nodes: {
    readonly reached: number;
    readonly pending: number;
    readonly rejected: number;
    readonly held: number;
  };
  /** Of those that are pending, at most 100. */
  readonly waitsFor: readonly string[];
  /** At most 100. */
  readonly rejections: readonly RolloutRejection[];
}

/** One that can be led by hand. Each returns false, and does nothing, where it does not apply any more. */
export interface Rollout extends RolloutStatus {
  /** All nodes get the change now. */
  promote(): boolean;
  /**
   * All nodes get the content from before, and keep it until the resource gets another content: each resource of the
   * change is in quarantine for all.
   */
  rollBack(): boolean;
  /** It stays at its step. */
  halt(reason?: string): boolean;
  /** One that halted goes on at its step; as many rejections as before make it halt again. */
  resume(): boolean;
}

/** The most entries that a shown list has. */
export const shownAtMost = 100;

/** What has just happened to a rollout. */
export type RolloutOutcome =
  | "started"
  /** Another change came on top: it is at the first step again. */
  | "restarted"
  | "advanced"
  | "soaking"
  | "halted"
  | "resumed"
  | "completed"
  | "rolled-back"
  | "withdrawn";
