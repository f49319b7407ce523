import { isOver } from "../course/course.js";
import type { RolloutRecord } from "../records/record.js";

/** The record to write: a rollout of what is held back here begins (again), or it is withdrawn. */
export type RecordToWrite = "begin" | "withdraw";

/** What a group of this server holds back from nodes, and its part in rollouts so far. */
export interface HeldChange {
  readonly isNothing: boolean;
  /** See `changeOf`. */
  readonly change: string;
  /** All changes that were held back since a record was carried out, with this one. */
  readonly history: ReadonlySet<string>;
  /** The change came here, and nobody else may know of it yet. */
  readonly isFresh: boolean;
  /** The rollout that it has a part in; undefined: none yet. */
  readonly id: number | undefined;
  /** The last rollout that this server had a part in. */
  readonly lastId: number;
}

/** What a group does about the record of its rollout. */
export type CourseStep =
  /** The change of the record comes here soon, or what is here goes to the others. */
  | { readonly kind: "wait" }
  | { readonly kind: "propose"; readonly wanted: RecordToWrite }
  /** Nothing is held back, and nobody else waits for that. */
  | { readonly kind: "end" }
  | { readonly kind: "carry-out"; readonly record: RolloutRecord }
  /** What is held back must be compared with what the record is about; `stepOnceAligned` says what follows. */
  | { readonly kind: "align"; readonly record: RolloutRecord }
  /** The rollout is over, and what is held back goes on in another one; a server that is ahead begins that. */
  | { readonly kind: "outlive"; readonly record: RolloutRecord; readonly isAhead: boolean };

/** The step after a record was heard, or a change came here. */
export function nextStep(record: RolloutRecord | undefined, held: HeldChange): CourseStep {
  const isMine = record !== undefined && held.history.has(record.change);
  if (held.isNothing)
    return isMine && !isOver(record.course) ? { kind: "propose", wanted: "withdraw" } : { kind: "end" };
  if (record === undefined) return { kind: "propose", wanted: "begin" };
  if (isOver(record.course)) return stepAfterEnd(record, held);
  if (record.change === held.change) return { kind: "carry-out", record };
  return isMine ? { kind: "propose", wanted: "begin" } : { kind: "align", record };
}

/** The step once what is held back is based on what the record says: a rollout that is under way, or rolled back. */
export function stepOnceAligned(record: RolloutRecord, held: HeldChange): CourseStep {
  const { change, isFresh } = held;
  // The record says that nodes have all of it.
  if (held.isNothing) return { kind: "end" };
  if (record.change === change) return { kind: "carry-out", record };
  if (isOver(record.course)) return stepAhead(record, held);
  return isFresh && !record.past.includes(change) ? { kind: "propose", wanted: "begin" } : { kind: "wait" };
}

function stepAfterEnd(record: RolloutRecord, held: HeldChange): CourseStep {
  // It was over before the change came here.
  if (held.id !== record.id && record.id <= held.lastId) return { kind: "propose", wanted: "begin" };
  const isSame = record.change === held.change;
  const { phase } = record.course;
  if (phase === "withdrawn") return stepAhead(record, held);
  if (isSame) return { kind: "carry-out", record };
  if (phase === "rolled-back") return { kind: "align", record };
  return { kind: "outlive", record, isAhead: isAhead(record, held) };
}

/** A server that is not ahead gets soon what was withdrawn, or rolled back: that does not begin again. */
function stepAhead(record: RolloutRecord, held: HeldChange): CourseStep {
  return isAhead(record, held) ? { kind: "outlive", record, isAhead: true } : { kind: "wait" };
}

function isAhead({ change }: RolloutRecord, held: HeldChange): boolean {
  return held.isFresh || (change !== held.change && held.history.has(change));
}
