import type { Version } from "@xdskit/api";
import type { RolloutStep } from "./rollout-settings.js";

/**
 * - `waiting`: the nodes of the step have not all acknowledged the change.
 * - `soaking`: they have, and the time goes by that is to go by.
 * - `halted`: it goes no further by itself; `reason` says why.
 * - `completed`: all nodes are to have it.
 * - `rolled-back`: none is to have it.
 * - `withdrawn`: nothing of it is left: what it changed is as it was before, or was changed for all at once.
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

/** A change on its way to the nodes of a group. */
export interface RolloutStatus {
  /** Counted from 1; unique in the life of a server. A change that comes on top of another that is under way makes one with it. */
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
  /** Node ids with streams: `held` are those that have what was before. Of the others, `pending` have not acknowledged the change yet. Of one that is over: at its end. */
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
   * All nodes get what was before, and go on having it until the content of what was changed becomes another one: each resource of the change is in
   * quarantine for all.
   */
  rollBack(): boolean;
  /** It stays at its step. */
  halt(reason?: string): boolean;
  /** One that halted goes on at its step; as many rejections as before make it halt again. */
  resume(): boolean;
}

/** Lists that are shown are cut to so many. */
export const shownAtMost = 100;
