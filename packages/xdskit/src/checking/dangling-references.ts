import {
  type Finding,
  getOrInsert,
  isCollection,
  missingNameFinding,
  type Reference,
  type Resource,
  type ResourceTypes,
  type Where,
} from "@xdskit/api";
import { emptySnapshot, namesIn, updateSnapshot } from "@xdskit/protocol";
import { createIsOwnName } from "@xdskit/server";
import type { Settings } from "../settings/schema.js";

/** The resources that a group's nodes are served. */
export interface ServedGroup {
  readonly group: string;
  readonly resources: readonly Resource[];
}

/**
 * A warning for each reference to a resource that its group does not have, unless it is one of `references_except`. It
 * is no error: a server cannot know what a client has from elsewhere, such as the clusters of an Envoy's bootstrap.
 * With `references: strict` it is one, where a server would refuse the name.
 */
export function danglingReferences(
  groups: readonly ServedGroup[],
  types: ResourceTypes,
  settings: Pick<Settings, "authorities" | "references" | "references_except">,
  whereNamed: (resource: Resource, reference: Reference) => Where | undefined,
): readonly Finding[] {
  const { references, references_except: except = [], authorities } = settings;
  const isOwnName = createIsOwnName(new Set(), authorities && new Set(authorities));
  const isError = (reference: Reference) =>
    references === "strict" && !isCollection(reference) && isOwnName(reference) && types.byTypeUrl(reference.type);
  const excepted = new Set(except);
  const missing = new Map<string, { resource: Resource; reference: Reference; groups: string[] }>();
  for (const { group, resources } of groups) {
    const names = namesIn(updateSnapshot(emptySnapshot(), { upsert: resources }));
    for (const resource of resources) {
      for (const reference of resource.references) {
        if (!names.has(reference) || excepted.has(reference.name)) continue;
        const key = [resource.type.typeUrl, resource.name, reference.type, reference.name].join("\n");
        getOrInsert(missing, key, () => ({ resource, reference, groups: [] })).groups.push(group);
      }
    }
  }
  return Array.from(missing.values(), ({ resource, reference, groups: lacking }) => ({
    ...missingNameFinding(reference, types, lacking, resource, lacking.length === groups.length),
    ...(isError(reference) && { severity: "error" }),
    ...whereNamed(resource, reference),
  }));
}
