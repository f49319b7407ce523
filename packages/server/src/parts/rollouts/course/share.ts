import { createHash } from "node:crypto";
import type { Node } from "@xdskit/protocol";
import { matcherOf, type NodeMatch } from "../../../settings/node-match.js";
import type { RolloutStep } from "../../../settings/rollout-settings.js";

/**
 * The nodes that a rollout has reached by all its steps until now, as plain values. A node needs to meet one of them.
 */
export interface Reach {
  /** Nodes with a position below this percentage. */
  readonly percent: number;
  /** Nodes with one of these positions. A longer list of the same rollout begins with the shorter one. */
  readonly positions: readonly number[];
  readonly matches: readonly NodeMatch[];
  /** How many more nodes a step by count takes. */
  readonly room: number;
}

export const nobody: Reach = { percent: 0, positions: [], matches: [], room: 0 };

/** A number from 0 up to 1 that is the same for a node id on every server and after every restart. */
export function positionOf(nodeId: string): number {
  return createHash("sha256").update(nodeId).digest().readUIntBE(0, 6) / 2 ** 48;
}

/**
 * The reach of a step, on top of the reach before, from the positions of the nodes that are there when it begins. By
 * percent it takes the positions below that; by count the lowest positions, and later nodes while there are too few.
 * Nodes that an earlier step reached count also while they are away, on their way to another server: else a step of
 * four nodes would reach five. Each step has at least one node that is there, since a change that no node tries proves
 * nothing.
 */
export function reachOf(step: RolloutStep, candidates: readonly number[], before: Reach): Reach {
  if ("match" in step) return { ...before, matches: [...before.matches, step.match] };
  const sorted = [...new Set(candidates)].sort((a, b) => a - b);
  if ("percent" in step) {
    const positions = [...new Set([...before.positions, ...sorted.slice(0, 1)])];
    return { ...before, positions, percent: Math.max(before.percent, step.percent) };
  }
  const reached = new Set(before.positions);
  const fresh = sorted.filter((each) => !reached.has(each));
  const least = fresh.length === sorted.length ? 1 : 0;
  const taken = fresh.slice(0, Math.max(least, step.count - before.positions.length));
  const positions = [...before.positions, ...taken];
  return { ...before, positions, room: Math.max(0, step.count - positions.length) };
}

/** Whether a step reaches one of these positions that the reach before it does not. */
export function reachesMore(before: Reach, after: Reach, candidates: readonly number[]): boolean {
  if (after.positions.length > before.positions.length) return true;
  return candidates.some(
    (each) => each >= before.percent / 100 && each < after.percent / 100 && !before.positions.includes(each),
  );
}

/** Takes nodes that came later, while there is room. Returns the same reach if it takes none. */
export function withMore(reach: Reach, candidates: readonly number[]): Reach {
  const reached = new Set(reach.positions);
  const fresh = [...new Set(candidates)].filter((each) => !reached.has(each)).sort((a, b) => a - b);
  const taken = fresh.slice(0, reach.room);
  if (taken.length === 0) return reach;
  return { ...reach, positions: [...reach.positions, ...taken], room: reach.room - taken.length };
}

/** A reach that is asked often. */
export function createShare({ percent, positions, matches }: Reach) {
  const all = new Set(positions);
  const matchers = matches.map(matcherOf);
  return {
    has(node: Node): boolean {
      if (matchers.some((holds) => holds(node))) return true;
      if (percent === 0 && all.size === 0) return false;
      const position = positionOf(node.id);
      return position < percent / 100 || all.has(position);
    },
    /** Replaces the reach by one that has more positions at its end. */
    widen(reach: Reach): void {
      for (let index = all.size; index < reach.positions.length; index++) all.add(reach.positions[index] ?? 0);
    },
  };
}
