import { idOf } from "../../../basics/id-of.js";
import type { RolloutAction, RolloutLed, SharedRollouts } from "../../../contracts/rollouts/rollout-sharing.js";
import { maxConflicts } from "../../../stores/basics/paces.js";
import { type Course, ended, halted, isOver, resumed } from "../course/course.js";
import { changeOf, type RolloutRecord } from "../records/record.js";
import { othersAreFaster, type RecordStore } from "../records/record-store.js";
import type { Leader } from "./leader.js";

export type LeadOptions = NonNullable<Parameters<SharedRollouts["lead"]>[2]>;

/** Leads the rollout of a group by hand, for all servers. See `SharedRollouts.lead`. */
export async function leadByHand(
  { records, leader }: { readonly records: RecordStore; readonly leader: Pick<Leader, "counts"> },
  group: string,
  action: RolloutAction,
  { id, reason = "by hand" }: LeadOptions,
): Promise<RolloutLed> {
  for (let tries = 0; tries < maxConflicts; tries += 1) {
    await records.read();
    const record = records.of(group);
    if (record === undefined) return "nothing";
    if (id !== undefined && record.id !== id) return "other";
    const course = await led(record, action, { reason, leader });
    if (course === undefined) return "nothing";
    if (await records.write(group, record, { ...record, course, since: Date.now() })) return "done";
  }
  throw othersAreFaster();
}

/** Ends the quarantine of some of what was rolled back, for all servers. */
export async function releaseByHand(records: RecordStore, group: string, ids: ReadonlySet<string>): Promise<void> {
  for (let tries = 0; tries < maxConflicts; tries += 1) {
    const record = records.of(group);
    if (record?.course.phase !== "rolled-back") return;
    const list = await records.list(record);
    if (list === undefined) {
      await records.read();
      continue;
    }
    const left = list.filter(({ type, key }) => !ids.has(idOf({ type: { typeUrl: type }, key })));
    if (left.length === list.length) return;
    if (await records.write(group, record, { ...record, change: changeOf(left) }, left)) return;
  }
  throw othersAreFaster();
}

async function led(
  { group, course }: RolloutRecord,
  action: RolloutAction,
  { reason, leader }: { readonly reason: string; readonly leader: Pick<Leader, "counts"> },
): Promise<Course | undefined> {
  if (isOver(course)) return undefined;
  if (action === "promote") return ended(course, "completed");
  if (action === "rollBack") return ended(course, "rolled-back");
  const isHalted = course.phase === "halted";
  if (action === "halt") return isHalted ? undefined : halted(course, reason);
  if (!isHalted) return undefined;
  const counts = (await leader.counts(true)).get(group) ?? [];
  const rejections = counts.flatMap((count) => (count.list === course.list ? count.rejections() : []));
  return resumed(course, new Set(rejections.map(({ node }) => node)).size);
}
