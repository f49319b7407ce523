import { canonicalName, type ResourceName } from "@xdskit/api";
import type { ClientTypeStatus, ReceivedResource, ResourceUpdate } from "@xdskit/protocol";
import { type CachedResources, namesAndAliases } from "./cached-resources.js";

/**
 * The differences between a cache and another server's resources; undefined: there are none. `isUnanswered`: a name, or
 * `*`, is watched, and no server has answered.
 */
export function differencesFrom(
  cached: CachedResources,
  status: ClientTypeStatus,
  isUnanswered: (name: ResourceName) => boolean,
): Omit<ResourceUpdate, "type"> | undefined {
  const { resources: theirs, names, states } = status;
  const upserted = [...theirs.values()].filter((resource) => {
    const mine = cached.byName.get(canonicalName(resource.name));
    return mine !== resource && (mine === undefined || !sameContent(mine, resource));
  });
  const askedFor = new Set(names.map(canonicalName));
  const there = new Set(Array.from(theirs.values(), ({ name }) => canonicalName(name)));
  const lost = [...cached.byName.values()].filter((resource) => {
    if (there.has(canonicalName(resource.name))) return false;
    const own = namesAndAliases(resource).filter((name) => askedFor.has(name));
    // A requested name is answered by name: until then the old resource stays.
    return own.length === 0 || own.some((name) => states(name) === "absent");
  });
  const removed = lost.map(({ name }) => ({ name, reason: "removed" as const }));
  const unreported = unreportedNames(cached, status, isUnanswered);
  const absent = unreported.map((name) => ({ name, reason: "told" as const, error: undefined }));
  if (upserted.length + removed.length + absent.length === 0) return undefined;
  return { upserted, removed, absent, failing: [] };
}

/** What that server answered while another one was active: names that do not exist, and all of an empty type. */
function unreportedNames(
  cached: CachedResources,
  { wildcard, names, states, isWhole }: ClientTypeStatus,
  isUnanswered: (name: ResourceName) => boolean,
): readonly ResourceName[] {
  const absent = names.filter((name) => {
    const known = canonicalName(name);
    return states(name) === "absent" && isUnanswered(known) && cached.find(known) === undefined;
  });
  // A response that was rejected says nothing about what there is.
  return wildcard && isWhole && states("*") === "current" && isUnanswered("*") ? [...absent, "*"] : absent;
}

function sameContent(a: ReceivedResource, b: ReceivedResource): boolean {
  return a.typeUrl === b.typeUrl && Buffer.compare(a.value, b.value) === 0;
}
