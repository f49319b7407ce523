import type { Version } from "@xdskit/api";
import type { RolloutRejection } from "../../../contracts/rollouts/rollout-status.js";
import type { Course } from "../course/course.js";
import type { RolloutRecord } from "../records/record.js";
import type { ServerCount } from "./group-side.js";

/** The counts of a server for a rollout in progress, as JSON. */
export interface CountJson {
  readonly group: string;
  /** Identifies the rollout, and its change. */
  readonly id: number;
  readonly change: string;
  readonly list: number;
  readonly turn: number;
  readonly pending: number;
  readonly acknowledged: number;
  readonly added: number;
  readonly isDeserted: boolean;
  readonly rejected: number;
  readonly waitsFor: readonly string[];
  readonly rejections: readonly RejectionJson[];
  readonly candidates: readonly number[];
}

type RejectionJson = Omit<RolloutRejection, "at"> & { readonly at: number };

/** `isWhole`: with the nodes that are waited for, of which there may be many. */
export function countJson(record: RolloutRecord, count: ServerCount, isWhole: boolean): CountJson {
  const { group, id, change, course } = record;
  const { list, turn, pending, acknowledged, added, isDeserted, rejected } = count;
  const wantsMore = course.phase === "choosing" || course.reach.room > 0;
  const isRead = rejected > 0 && (isWhole || course.phase !== "halted");
  return {
    group,
    id,
    change,
    list,
    turn,
    pending,
    acknowledged,
    added,
    isDeserted,
    rejected,
    waitsFor: isWhole ? [...count.waitsFor()] : [],
    rejections: isRead ? count.rejections().map(({ at, ...rest }) => ({ ...rest, at: at.getTime() })) : [],
    candidates: wantsMore && turn === course.turn ? count.candidates() : [],
  };
}

/** Reads the counts of a server. A server with counts for another change has not carried this one out. */
export function countIn(reported: CountJson | undefined, { id, change }: RolloutRecord, server: string): ServerCount {
  if (reported === undefined || reported.id !== id || reported.change !== change) return silentCount(server);
  return {
    ...reported,
    server,
    waitsFor: () => new Set(reported.waitsFor),
    rejections: () =>
      reported.rejections.map(({ at, version, ...rest }) => ({
        ...rest,
        version: version as Version,
        at: new Date(at),
      })),
    candidates: () => reported.candidates,
  };
}

/** Of a server that does not answer, or carries something else out. */
export function silentCount(server: string): ServerCount {
  return { ...nothing, list: -1, turn: -1, server };
}

/** Of a server without such nodes. */
export function nobodyThere({ list, turn }: Course): ServerCount {
  return { ...nothing, list, turn };
}

const nothing = {
  pending: 0,
  acknowledged: 0,
  added: 0,
  isDeserted: true,
  rejected: 0,
  waitsFor: () => new Set<string>(),
  rejections: () => [],
  candidates: () => [],
};
