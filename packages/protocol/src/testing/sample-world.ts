import type { ResourceType } from "@xdskit/api";
import { canonicalName, resourceTypes } from "@xdskit/api";
import { emptySnapshot, type Snapshot, updateSnapshot } from "../index.js";
import { type Content, sampleResource, urlOf } from "./sample-resources.js";

/** One resource to put or to remove, in a transcript's words. `content` undefined removes. */
export interface Edit {
  readonly type: string;
  readonly name: string;
  readonly content: Content | undefined;
}

/** The configuration of a group of nodes, as a snapshot and in words. */
export interface SampleGroup {
  readonly snapshot: Snapshot;
  /** Type → name → content. Plain and slow on purpose: the code under test is compared with it. */
  readonly contents: ReadonlyMap<string, ReadonlyMap<string, Content>>;
}

/** The type of a transcript's word, as the code under test knows it. */
export function typeOf(word: string): ResourceType {
  const found = resourceTypes.byTypeUrl(urlOf(word, "v3"));
  if (found === undefined) throw new Error(`the table of types has no ${word}`);
  return found.type;
}

/** Applies one atomic change. */
export function edit(group: SampleGroup | undefined, edits: readonly Edit[]): SampleGroup {
  const contents = new Map<string, Map<string, Content>>();
  for (const [type, names] of group?.contents ?? []) contents.set(type, new Map(names));
  for (const { type, name, content } of edits) {
    const names = contents.get(type) ?? new Map<string, Content>();
    contents.set(type, names);
    if (content === undefined) names.delete(canonicalName(name));
    else names.set(canonicalName(name), content);
  }
  const snapshot = updateSnapshot(group?.snapshot ?? emptySnapshot(), {
    upsert: edits.flatMap(({ type, name, content }) =>
      content === undefined ? [] : [sampleResource(type, name, content)],
    ),
    remove: edits.flatMap(({ type, name, content }) =>
      content === undefined ? [{ type: typeOf(type), name: sampleResource(type, name, "").key }] : [],
    ),
  });
  return { snapshot, contents };
}

/** The group's snapshot, which reports each look at a set, so that a test sees from which group a response was made. */
export function watchedSnapshot(group: SampleGroup, looked: (group: SampleGroup) => void): Snapshot {
  const { snapshot } = group;
  return {
    sets: snapshot.sets,
    of(type) {
      looked(group);
      return snapshot.of(type);
    },
  };
}

/** All of a type in one string, whatever the order: `a=1 b=2`. */
export function describeSet(group: SampleGroup | undefined, type: string): string {
  return [...(group?.contents.get(type) ?? [])]
    .map(([name, content]) => `${name}=${content}`)
    .sort()
    .join(" ");
}
