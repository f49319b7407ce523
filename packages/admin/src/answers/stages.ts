import {
  type Finding,
  isCollection,
  maxFindings,
  missingNameText,
  oneByOne,
  type Reference,
  type Resource,
  type Steps,
} from "@xdskit/api";
import {
  calledName,
  emptySnapshot,
  type FollowedNames,
  hasNamed,
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
 * others still have. Costs the change; a removal also costs all references of the group, if the server has no index of
 * them (`namesOf`).
 */
export function* danglingIn(
  previews: readonly GroupPreview[],
  changes: readonly ResourceChange[],
  {
    types,
    danglingNames: namesOf,
    referencesExcept: except,
  }: Pick<XdsServer, "types" | "danglingNames" | "referencesExcept">,
): Steps<readonly Finding[]> {
  const lacking = new Map<
    string,
    { readonly resource: Resource; readonly reference: Reference; readonly groups: Set<string> }
  >();
  const note = (resource: Resource, reference: Reference, group: string) => {
    const key = `${resource.type.typeUrl} ${resource.key} ${reference.type} ${reference.name}`;
    const known = lacking.get(key);
    if (known !== undefined) known.groups.add(group);
    else if (lacking.size < maxFindings) lacking.set(key, { resource, reference, groups: new Set([group]) });
  };
  const upserted = changes.flatMap(({ after }) => after ?? []);
  const removed = changes.flatMap(({ before, after }) => (after === undefined ? (before ?? []) : []));
  /** Groups with the same layers have the same snapshot. */
  const searched = new Map<Snapshot, readonly Naming[]>();
  for (const { group, after } of previews) {
    const lacks = (reference: Reference) =>
      !isCollection(reference) && !except.has(reference.name) && !hasNamed(after, reference);
    yield* oneByOne(upserted, (resource) => {
      // Another layer may have another content over it.
      if (after.of(resource.type).get(resource.key)?.version !== resource.version) return;
      for (const reference of resource.references) if (lacks(reference)) note(resource, reference, group);
    });
    let naming = searched.get(after);
    if (naming === undefined) {
      const gone = removed.map((one) => ({ type: one.type.typeUrl, name: calledName(one) })).filter(lacks);
      naming = gone.length === 0 ? [] : yield* stillNaming(after, gone, namesOf(group));
      searched.set(after, naming);
    }
    for (const { resource, reference } of naming) note(resource, reference, group);
  }
  return Array.from(lacking.values(), ({ resource, reference, groups }) => ({
    ...({ code: "XDSKIT_DANGLING_REFERENCE", severity: "warning" } as const),
    message: missingNameText(reference, types, [...groups]),
    type: resource.type.name,
    resource: resource.name,
  }));
}

interface Naming {
  readonly resource: Resource;
  readonly reference: Reference;
}

/** The resources of a snapshot that name one of these. */
function* stillNaming(
  after: Snapshot,
  gone: readonly Reference[],
  index: FollowedNames | undefined,
): Steps<readonly Naming[]> {
  const names = new Map<string, Set<string>>();
  for (const { type, name } of gone) names.set(type, (names.get(type) ?? new Set()).add(name));
  const found: Naming[] = [];
  const look = (resource: Resource) => {
    for (const reference of resource.references)
      if (names.get(reference.type)?.has(reference.name)) found.push({ resource, reference });
  };
  if (index === undefined) for (const set of after.sets.values()) yield* oneByOne([...set], look);
  else
    for (const { type, key } of new Set(gone.flatMap((one) => [...index.referrers(one)]))) {
      const resource = after.of(type).get(key);
      if (resource !== undefined) look(resource);
    }
  return found;
}
