import type { Version } from "@xdskit/api";
import type { RolloutStep } from "../../settings/rollout-settings.js";

/**
 * - `waiting`: the nodes of the step have not all acknowledged the change.
 * - `soaking`: they have, and the soak time runs.
 * - `halted`: it does not go on automatically; `reason` says why.
 * - `completed`: all nodes get it.
 * - `rolled-back`: no node gets it.
 * - `withdrawn`: nothing of it is left: its resources are as before, or were changed for all nodes at once.
 */
export type RolloutState = "waiting" | "soaking" | "halted" | "completed" | "rolled-back" | "withdrawn";

/** A node's rejection of a change. */
export interface RolloutRejection {
  readonly node: string;
  readonly type: string;
  readonly version: Version;
  readonly code: number;
  readonly message: string;
  readonly at: Date;
}

/** A change that goes to the nodes of a group in steps. */
export interface RolloutStatus {
  /** Counted from 1; unique in the life of a server. A change on top of one that is under way joins it. */
  readonly id: number;
  readonly group: string;
  readonly state: RolloutState;
  /** Why it halted; empty if it did not. */
  readonly reason: string;
  /** The current step, counted from 1. */
  readonly step: number;
  readonly steps: readonly RolloutStep[];
  readonly startedAt: Date;
  /** When this state began. */
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
  /** The pending nodes, at most 100. */
  readonly waitsFor: readonly string[];
  /** At most 100. */
  readonly rejections: readonly RolloutRejection[];
}

/** A rollout that can be controlled by hand. Each method returns false, and does nothing, if it no longer applies. */
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
  /** Lets a halted rollout go on at its step; as many rejections as before halt it again. */
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
