import { setImmediate as nextTurn } from "node:timers/promises";
import { getOrInsert, oneByOne, type Resource, type ResourceName, type ResourceType, type Steps } from "@xdskit/api";
import type { Snapshot } from "@xdskit/protocol";
import type { GroupPreview, LayerUpdate } from "@xdskit/server";
import type { ChangedResource } from "../contract/answers.js";
import { maxInEntry } from "../contract/limits.js";
import type { ShowResource } from "./resource-json.js";

/** The change of one resource of a layer. */
export interface ResourceChange {
  /** Undefined: there was none. */
  readonly before: Resource | undefined;
  /** Undefined: there is none any more. */
  readonly after: Resource | undefined;
  /** What nodes are served, where that is not the same. Empty: nobody is served anything else. */
  readonly served?: readonly ServedChange[] | undefined;
}

/** The change of what the nodes of some groups are served of a resource. */
interface ServedChange extends Omit<ResourceChange, "served"> {
  readonly groups: string[];
}

/** The changes of a layer, with those of what nodes are served where another layer has a resource, too. */
export function* servedChangesOf(
  changes: readonly ResourceChange[],
  previews: readonly GroupPreview[],
): Steps<readonly ResourceChange[]> {
  const found: ResourceChange[] = [];
  yield* oneByOne(changes, (change) => {
    const one = change.after ?? change.before;
    if (one === undefined) return;
    const served = new Map<string, ServedChange>();
    for (const { group, ...preview } of previews) {
      const [before, after] = [preview.before, preview.after].map((snapshot) => snapshot.of(one.type).get(one.key));
      if (before?.version === after?.version) continue;
      const id = JSON.stringify([before?.version, after?.version]);
      const known = served.get(id);
      if (known === undefined) served.set(id, { before, after, groups: [group] });
      else if (known.groups.length < maxInEntry) known.groups.push(group);
    }
    const all = [...served.values()];
    const isAsInLayer = ({ before, after }: ServedChange) =>
      before?.version === change.before?.version && after?.version === change.after?.version;
    found.push(all.length > 0 && all.every(isAsInLayer) ? change : { ...change, served: all });
  });
  return found;
}

/** The changes that an update makes to a layer, in delivery order, then by key. */
export function* changesOf(layer: Snapshot | undefined, update: LayerUpdate): Steps<readonly ResourceChange[]> {
  const changes = new Map<string, ResourceChange>();
  const goes = (before: Resource) => void changes.set(idOf(before), { before, after: undefined });
  if (update.kind === "replace") for (const set of layer?.sets.values() ?? []) yield* oneByOne([...set], goes);
  else
    yield* oneByOne(update.remove ?? [], ({ type, name }) => {
      for (const before of layer?.of(type).named(name) ?? []) goes(before);
    });
  yield* oneByOne(update.upsert, (after) => {
    const before = layer?.of(after.type).get(after.key);
    if (before?.version === after.version) changes.delete(idOf(after));
    else changes.set(idOf(after), { before, after });
  });
  return yield* sorted(changes.values());
}

/** The differences of two contents of a layer. */
export function* changesBetween(from: readonly Resource[], to: readonly Resource[]): Steps<readonly ResourceChange[]> {
  const changes = new Map<string, ResourceChange>();
  yield* oneByOne(from, (before) => void changes.set(idOf(before), { before, after: undefined }));
  yield* oneByOne(to, (after) => {
    const id = idOf(after);
    const before = changes.get(id)?.before;
    if (before?.version === after.version) changes.delete(id);
    else changes.set(id, { before, after });
  });
  return yield* sorted(changes.values());
}

/** How many resources came, have another content, and went. */
export function countsOf(changes: readonly ResourceChange[]): Record<ChangedResource["change"], number> {
  const counts = { added: 0, changed: 0, removed: 0 };
  for (const change of changes) counts[kindOf(change)] += 1;
  return counts;
}

function kindOf({ before, after }: ResourceChange): ChangedResource["change"] {
  return before === undefined ? "added" : after === undefined ? "removed" : "changed";
}

/** Changes as JSON. Others get a turn now and then. */
export async function changesJson(changes: readonly ResourceChange[], show: ShowResource): Promise<ChangedResource[]> {
  const shown: ChangedResource[] = [];
  for (const [index, each] of changes.entries()) {
    if (index % 100 === 99) await nextTurn();
    const { before, after } = each;
    await show.prepare([before, after, ...(each.served ?? []).flatMap((of) => [of.before, of.after])]);
    const one = after ?? before;
    if (one === undefined) continue;
    const change = kindOf(each);
    const { type, name, key, variant } = one;
    const contentsOf = (of: Pick<ResourceChange, "before" | "after">) => {
      return { before: jsonOf(of.before, show), after: jsonOf(of.after, show) };
    };
    const served = each.served && { served: each.served.map((of) => ({ groups: of.groups, ...contentsOf(of) })) };
    const about = { type: type.typeUrl, name, ...(variant === undefined ? {} : { key }), change };
    shown.push({ ...about, ...contentsOf({ before, after }), ...served });
  }
  return shown;
}

function jsonOf(resource: Resource | undefined, show: ShowResource): ChangedResource["after"] {
  return resource === undefined ? null : (show(resource) as NonNullable<ChangedResource["after"]>);
}

/** In delivery order, then by key. */
function* sorted(changes: Iterable<ResourceChange>): Steps<readonly ResourceChange[]> {
  const byType = new Map<ResourceType, { readonly key: ResourceName; readonly change: ResourceChange }[]>();
  yield* oneByOne(changes, (change) => {
    const one = change.after ?? change.before;
    if (one !== undefined) getOrInsert(byType, one.type, () => []).push({ key: one.key, change });
  });
  const types = [...byType].sort(([a], [b]) => a.deliveryOrder - b.deliveryOrder || (a.name < b.name ? -1 : 1));
  const found: ResourceChange[] = [];
  for (const [, keyed] of types) {
    keyed.sort((a, b) => (a.key < b.key ? -1 : 1));
    yield;
    for (const { change } of keyed) found.push(change);
  }
  return found;
}

function idOf({ type, key }: Resource): string {
  return `${type.typeUrl} ${key}`;
}
