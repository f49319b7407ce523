import { createHash } from "node:crypto";
import { maxFindings, type ResourceName, type TypeUrl, type Version } from "@xdskit/api";
import type { Course } from "../course/course.js";

/** The shared record of a group's rollout: the one in progress, or the last one. */
export interface RolloutRecord {
  readonly group: string;
  /** Counted from 1 in the life of the store. */
  readonly id: number;
  /** Counted up with each write: of two that are heard, the later one. */
  readonly writes: number;
  readonly course: Course;
  /** Names the change that it brings: see `changeOf`. */
  readonly change: string;
  /** Changes that came before: who has one of them is behind. The newest first. */
  readonly past: readonly string[];
  /** In milliseconds since 1970. */
  readonly startedAt: number;
  /** Since when it is in its phase, in milliseconds since 1970. */
  readonly since: number;
}

/** The change of one resource: its versions before and after; undefined: the resource is not there. */
export interface RecordedChange {
  readonly type: TypeUrl;
  readonly key: ResourceName;
  readonly from?: Version | undefined;
  readonly wanted?: Version | undefined;
}

/** A digest of what a change does: two servers with the same one hold the same back from the same nodes. */
export function changeOf(resources: Iterable<RecordedChange>): string {
  return shortHash(inOneOrder(resources).map(lineOf).join("\n"));
}

/** The same changes in the same order, wherever they come from. */
export function inOneOrder(resources: Iterable<RecordedChange>): readonly RecordedChange[] {
  const lines = Array.from(resources, (resource) => [lineOf(resource), resource] as const);
  return lines.sort(([a], [b]) => (a < b ? -1 : 1)).map(([, resource]) => resource);
}

function lineOf({ type, key, from, wanted }: RecordedChange): string {
  return JSON.stringify([type, key, from ?? null, wanted ?? null]);
}

/** Names the contents that are read for a record: of a completed rollout those that it brought. */
export function preparedFor({ change, course }: Pick<RolloutRecord, "change" | "course">): string {
  return `${change} ${course.phase === "completed"}`;
}

/** A completed rollout holds nothing back. */
export function isHolding({ course: { phase } }: RolloutRecord): boolean {
  return phase !== "completed" && phase !== "withdrawn";
}

/** The past of a record that comes after this one. */
export function pastAfter(record: RolloutRecord | undefined, change: string): readonly string[] {
  if (record === undefined) return [];
  return [...new Set([record.change, ...record.past])].filter((each) => each !== change).slice(0, maxFindings);
}

export const courses = "rollouts/course/";

export function courseKey(group: string): string {
  return courses + shortHash(group);
}

export const lists = "rollouts/undo/";

/** Begins the lists of all changes of a group. */
export function listsOf(group: string): string {
  return `${lists}${shortHash(group)}/`;
}

/** Where the list of a change begins: it is in as many values as it needs. */
export function listPrefix({ group, change }: Pick<RolloutRecord, "group" | "change">): string {
  return `${listsOf(group)}${change}/`;
}

export const rejectedPrefix = "rollouts/rejected/";

/** What one server says of a group. */
export function rejectedKey(group: string, server: string): string {
  return `${rejectedPrefix}${shortHash(group)}/${server}`;
}

/** 22 characters of base64url. */
function shortHash(text: string): string {
  return createHash("sha256").update(text).digest("base64url").slice(0, 22);
}
