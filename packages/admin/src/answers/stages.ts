import {
  type Finding,
  inHundreds,
  isGlobName,
  mostFindings,
  type Resource,
  type ResourceTypes,
  type Steps,
} from "@xdskit/api";
import { emptySnapshot, planBetween, planJson, type Snapshot, type StageJson, type WaitJson } from "@xdskit/protocol";
import type { GroupPreview } from "@xdskit/server";
import type { GroupStages } from "../contract/answers.js";

/**
 * The stages in which the clients of each group reach a change. Each list has at most `names` names, and the number of
 * further ones.
 */
export function* stagesOf(previews: readonly GroupPreview[], names: number): Steps<GroupStages[]> {
  const found: GroupStages[] = [];
  for (const { group, before, after } of previews) {
    const { stages, held } = planJson(planBetween(before, after));
    found.push({
      group,
      stages: stages.map((stage) => ({
        after: stage.after.map((wait) => cutWait(wait, names)),
        changes: stage.changes.map((change) => cutChange(change, names)),
      })),
      held: held.map((wait) => cutWait(wait, names)),
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

function cutWait({ kind, type, names, for: cause }: WaitJson, most: number): GroupStages["held"][number] {
  return {
    ...{ kind, type, names: names.slice(0, most) },
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

/** The names in new contents that a group does not have after the change. Costs the change. */
export function* danglingIn(
  previews: readonly GroupPreview[],
  upserted: readonly Resource[],
  types: ResourceTypes,
): Steps<readonly Finding[]> {
  const lacking = new Map<string, { readonly resource: Resource; readonly what: string; readonly groups: string[] }>();
  for (const { group, after } of previews) {
    yield* inHundreds(upserted, (resource) => {
      // Another layer may have another content over it.
      if (after.of(resource.type).get(resource.key)?.version !== resource.version) return;
      for (const { type, name } of resource.references) {
        if (isMany(name) || (after.sets.get(type)?.named(name).length ?? 0) > 0) continue;
        const what = `${types.byTypeUrl(type)?.type.name ?? type} ${JSON.stringify(name)}`;
        const key = `${resource.type.typeUrl} ${resource.key} ${what}`;
        const known = lacking.get(key);
        if (known !== undefined) known.groups.push(group);
        else if (lacking.size < mostFindings) lacking.set(key, { resource, what, groups: [group] });
      }
    });
  }
  return Array.from(lacking.values(), ({ resource, what, groups }) => ({
    ...({ code: "XDSKIT_DANGLING_REFERENCE", severity: "warning" } as const),
    message: `names ${what}, which ${groups.length === 1 ? "group" : "groups"} ${groups.join(", ")} ${groups.length === 1 ? "lacks" : "lack"}`,
    ...{ type: resource.type.name, resource: resource.name },
  }));
}

/** Whether a name stands for all names below it. */
function isMany(name: string): boolean {
  return name === "*" || name.endsWith("/*") || isGlobName(name);
}
