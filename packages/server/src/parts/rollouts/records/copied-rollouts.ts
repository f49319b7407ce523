import type { ContentOfCopy, CopiedKeys } from "../../../contracts/stores/copied-keys.js";
import type { SharedEntry } from "../../../contracts/stores/shared-keys.js";
import { courses, lists, type RecordedChange } from "./record.js";

/**
 * The records of rollouts, and what their nodes keep: a server that starts while the store is away must not give all
 * nodes what a rollout has brought to a few.
 */
export const copiedRollouts: CopiedKeys = {
  prefix: "rollouts/",
  isCopied: (key) => key.startsWith(courses) || key.startsWith(lists),
  contentsOf: (entries) => entries.filter(({ key }) => key.startsWith(lists)).flatMap(contentsIn),
};

function contentsIn({ value }: SharedEntry): readonly ContentOfCopy[] {
  const list = JSON.parse(value) as readonly RecordedChange[];
  return list.flatMap(({ type, key, from }) => (from === undefined ? [] : [{ type, key, version: from }]));
}
