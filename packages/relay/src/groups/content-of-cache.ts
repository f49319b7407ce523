import {
  canonicalName,
  type Finding,
  globOf,
  type Reference,
  type Resource,
  type ResourceName,
  type ResourceType,
  type ResourceTypes,
} from "@xdskit/api";
import type { ReceivedResource } from "@xdskit/protocol";
import type { OriginResources } from "../cache/origin-resources.js";
import { servedAs } from "./group-layer.js";
import { isCollectionReference, type WatchedCollection } from "./upstream/upstream-types.js";

interface CachedContent {
  readonly retained: Pick<OriginResources, "named" | "all">;
  /** Types that are complete in the cache. */
  readonly whole: ReadonlySet<ResourceType>;
  readonly types: ResourceTypes;
  /** Those that are asked for as a whole. */
  readonly collections: readonly WatchedCollection[];
  /** Whether a reference is asked for because something names it. */
  isFollowed(reference: Reference): boolean;
}

/** What the layer had: what is asked for as a whole, and with it what is followed from there. */
export function contentOfCache(
  { retained, whole, types, collections, isFollowed }: CachedContent,
  report: (findings: readonly Finding[]) => void,
): readonly Resource[] {
  const content = new Map<ReceivedResource, Resource>();
  const add = (received: ReceivedResource) => {
    const resource = content.has(received) ? undefined : servedAs(received, report);
    if (resource === undefined) return;
    content.set(received, resource);
    for (const reference of resource.references) if (isFollowed(reference)) follow(reference);
  };
  const follow = (reference: Reference) => {
    const type = types.byTypeUrl(reference.type)?.type;
    if (type === undefined) return;
    if (isCollectionReference(reference)) addAll(type, reference.name);
    else for (const received of retained.named(type, reference.name)) add(received);
  };
  const addAll = (type: ResourceType, collection: ResourceName) => {
    if (!whole.has(type)) return;
    const name = canonicalName(collection);
    for (const received of retained.all(type)) if ((globOf(received.name) ?? "*") === name) add(received);
  };
  for (const { type, name } of collections) addAll(type, name);
  return [...content.values()];
}
