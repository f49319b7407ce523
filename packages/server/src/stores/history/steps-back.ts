import type { Registry, Resource, ResourceTypes } from "@xdskit/api";
import { idOf } from "../../basics/id-of.js";
import type { LayerUpdate, StepBack } from "../../contracts/source.js";
import type { Revision, Store } from "../../contracts/stores/store.js";
import { maxChanges, maxDrained, maxRevisions } from "./following.js";
import { decodeStored } from "./stored-content.js";

/** A client that was away for more than this many revisions gets the newest at once, unless they are all recent. */
const maxSteps = 10;

type RevisionReading = { readonly types: ResourceTypes; readonly registry: Registry };

/** The content of a layer at a step, as far as a later revision changed it. */
type StepContent = Map<string, Resource | undefined>;

/**
 * Walks back from what layers hold now, which is their heads' content, through the revisions before. It goes on to
 * `since` (milliseconds since the epoch) even if these are many: connections may still drain from listeners that one of
 * them replaced. Gives up soon after `late` is aborted.
 */
export async function stepsBack(
  store: Store,
  now: readonly LayerUpdate[],
  reading: RevisionReading,
  late: AbortSignal,
  since = Number.POSITIVE_INFINITY,
): Promise<readonly StepBack[]> {
  const contents = new Map(now.map(({ layer, upsert }): [string, StepContent] => [layer, new Map(upsert.map(withId))]));
  const steps: StepBack[] = [];
  let changes = 0;
  for (const revisions of await commits(store, [...contents.keys()], since)) {
    changes += revisions.reduce((sum, { upserted, removed }) => sum + upserted + removed, 0);
    // The newest revision counts whatever its size. A start must not wait for more of the others.
    const most = isSince(revisions, since) ? maxDrained : maxChanges;
    if (steps.length > 0 && changes > most) break;
    const step: { back: LayerUpdate[]; forward: LayerUpdate[] } = { back: [], forward: [] };
    for (const revision of revisions) {
      const ways = await waysOf(store, revision, contents.get(revision.layer) ?? new Map(), reading, late);
      if (ways === undefined) return steps;
      step.back.push(ways.back);
      // The revisions come newest first, and the way forward ends with the newest.
      step.forward.unshift(ways.forward);
    }
    steps.push(step);
  }
  return steps;
}

/**
 * The newest commits that changed something that was there, newest first: the revisions of each. A commit has one time
 * and at most one revision of a layer.
 */
async function commits(
  store: Store,
  layers: readonly string[],
  since: number,
): Promise<readonly (readonly Revision[])[]> {
  const byTime = new Map<number, Revision[][]>();
  for (const layer of layers) {
    const ofLayer = new Map<number, number>();
    for (const revision of await store.history(layer, { limit: maxRevisions })) {
      if (revision.parent === undefined || revision.upserted + revision.removed === 0) continue;
      const at = byTime.get(revision.time) ?? [];
      byTime.set(revision.time, at);
      const earlier = ofLayer.get(revision.time) ?? 0;
      ofLayer.set(revision.time, earlier + 1);
      at[earlier] = [...(at[earlier] ?? []), revision];
    }
  }
  return [...byTime]
    .sort(([one], [other]) => other - one)
    .flatMap(([, all]) => all)
    .slice(0, maxRevisions)
    .filter((revisions, index) => index < maxSteps || isSince(revisions, since));
}

function isSince(revisions: readonly Revision[], since: number): boolean {
  return revisions.every(({ time }) => time >= since);
}

/** From after a revision to before it, and back. Undefined: a content is not there any more, or it is too late. */
async function waysOf(
  store: Store,
  { id, layer }: Revision,
  content: StepContent,
  reading: RevisionReading,
  late: AbortSignal,
): Promise<{ readonly back: LayerUpdate; readonly forward: LayerUpdate } | undefined> {
  const before: Resource[] = [];
  const after: Resource[] = [];
  for (const { type, key, from } of await store.changes(id)) {
    if (late.aborted) return undefined;
    const name = idOf({ type: { typeUrl: type }, key });
    const now = content.get(name);
    if (now !== undefined) after.push(now);
    const bytes = from === undefined ? undefined : await store.content(type, key, from);
    if (from !== undefined && bytes === undefined) return undefined;
    const was = bytes && decodeStored({ type, key, version: from ?? "", bytes }, reading);
    if (was !== undefined) before.push(was);
    content.set(name, was);
  }
  return {
    back: { layer, kind: "patch", upsert: before, remove: keysOf(after) },
    forward: { layer, kind: "patch", upsert: after, remove: keysOf(before) },
  };
}

function withId(resource: Resource): readonly [string, Resource] {
  return [idOf(resource), resource];
}

function keysOf(resources: readonly Resource[]): NonNullable<LayerUpdate["remove"]> {
  return resources.map(({ type, key }) => ({ type, name: key }));
}
