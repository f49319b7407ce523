import {
  type Finding,
  getOrInsert,
  maxFindings,
  missingNameFinding,
  oneByOne,
  type Reference,
  type Resource,
  type Steps,
} from "@xdskit/api";
import {
  calledName,
  emptySnapshot,
  hasNamed,
  namesIn,
  planBetween,
  planJson,
  type Snapshot,
  type StageJson,
  type WaitJson,
} from "@xdskit/protocol";
import type { GroupPreview, XdsServer } from "@xdskit/server";
import type { GroupStages } from "../contract/answers.js";
import type { ResourceChange } from "./changes.js";
import { rolloutWords } from "./rollout-words.js";

/**
 * The stages in which the clients of each group reach a change. Each list has at most `names` names, and the number of
 * further ones.
 */
export function* stagesOf(previews: readonly GroupPreview[], names: number): Steps<GroupStages[]> {
  const found: GroupStages[] = [];
  for (const { group, before, after, rollout } of previews) {
    const plan = planBetween(before, after);
    yield;
    const { stages, waits } = planJson(plan);
    found.push({
      group,
      stages: stages.map((stage) => ({
        after: stage.after.map((wait) => cutWait(wait, names)),
        changes: stage.changes.map((change) => cutChange(change, names)),
      })),
      waits: waits.map((wait) => cutWait(wait, names)),
      ...(rollout && { rollout: { steps: [...rollout.steps], words: rolloutWords(rollout) } }),
    });
    yield;
  }
  return found;
}

type StageChange = GroupStages["stages"][number]["changes"][number];

function cutChange({ type, added, changed, removed }: StageJson["changes"][number], most: number): StageChange {
  const lists = { added: added.slice(0, most), changed: changed.slice(0, most), removed: removed.slice(0, most) };
  if (Math.max(added.length, changed.length, removed.length) <= most) return { type, ...lists };
  const beyond = (list: readonly string[]) => Math.max(0, list.length - most);
  return { type, ...lists, more: { added: beyond(added), changed: beyond(changed), removed: beyond(removed) } };
}

function cutWait({ kind, type, names, for: cause }: WaitJson, most: number): GroupStages["waits"][number] {
  return {
    kind,
    type,
    names: names.slice(0, most),
    ...(cause === undefined ? {} : { for: { type: cause.type, names: cause.names.slice(0, most) } }),
  };
}

/** The way from one change of the present to another: both previews are of the same layers. */
export function previewsBetween(
  from: readonly GroupPreview[],
  to: readonly GroupPreview[],
  now: (group: string) => Snapshot | undefined,
): readonly GroupPreview[] {
  const groups = [...new Set([...from, ...to].map(({ group }) => group))];
  const afterOf = (previews: readonly GroupPreview[], group: string) =>
    previews.find((one) => one.group === group)?.after ?? now(group) ?? emptySnapshot();
  return groups.map((group) => ({ group, before: afterOf(from, group), after: afterOf(to, group) }));
}

/**
 * The names that a group does not have after the change: those in new contents, and those that the change removes and
 * others still have. Costs the change.
 */
export function* danglingIn(
  previews: readonly GroupPreview[],
  changes: readonly ResourceChange[],
  { types, danglingNames, referencesExcept: except }: Pick<XdsServer, "types" | "danglingNames" | "referencesExcept">,
): Steps<readonly Finding[]> {
  const lacking = new Map<
    string,
    { readonly resource: Resource; readonly reference: Reference; readonly groups: Set<string> }
  >();
  const note = (resource: Resource, reference: Reference, group: string) => {
    const key = `${resource.type.typeUrl} ${resource.key} ${reference.type} ${reference.name}`;
    if (lacking.size < maxFindings || lacking.has(key))
      getOrInsert(lacking, key, () => ({ resource, reference, groups: new Set<string>() })).groups.add(group);
  };
  const touched = changes.flatMap(({ before, after }) => after ?? before ?? []);
  for (const { group, before, after } of previews) {
    const now = ({ type, key }: Resource) => after.of(type).get(key);
    const lacks = (reference: Reference) => !except.has(reference.name) && !hasNamed(after, reference);
    yield* oneByOne(touched, (one) => {
      const [was, is] = [before.of(one.type).get(one.key), now(one)];
      // Another layer may have another content over it.
      if (was?.version === is?.version) return;
      if (is !== undefined) for (const reference of is.references.filter(lacks)) note(is, reference, group);
      const gone = { type: one.type.typeUrl, name: calledName(one) };
      if (!lacks(gone)) return;
      for (const resource of (danglingNames(group) ?? namesIn(before)).stillNaming(gone, now))
        note(resource, gone, group);
    });
  }
  return Array.from(lacking.values(), ({ resource, reference, groups }) =>
    missingNameFinding(reference, types, [...groups], resource),
  );
}
