import type { Finding, Reference, Resource, ResourceTypes, Where } from "@xdskit/api";
import { createDanglingNames, emptySnapshot, updateSnapshot } from "@xdskit/protocol";
import { danglingMessage } from "../output/messages/dangling-message.js";

/** The resources that a group's nodes are served. */
export interface GroupResources {
  readonly group: string;
  readonly resources: readonly Resource[];
}

/**
 * A warning for each reference to a resource that its group does not have. It is no error: a server cannot know what a
 * client has from elsewhere, such as the clusters of an Envoy's bootstrap.
 */
export function danglingReferences(
  groups: readonly GroupResources[],
  types: ResourceTypes,
  whereNamed: (resource: Resource, reference: Reference) => Where | undefined,
): readonly Finding[] {
  const missing = new Map<string, { resource: Resource; reference: Reference; groups: string[] }>();
  for (const { group, resources } of groups) {
    const dangling = createDanglingNames();
    dangling.update(updateSnapshot(emptySnapshot(), { upsert: resources }));
    for (const resource of resources) {
      for (const reference of resource.references) {
        if (!dangling.has(reference)) continue;
        const key = [resource.type.typeUrl, resource.name, reference.type, reference.name].join("\n");
        const known = missing.get(key);
        if (known === undefined) missing.set(key, { resource, reference, groups: [group] });
        else known.groups.push(group);
      }
    }
  }
  return Array.from(missing.values(), ({ resource, reference, groups: lacking }) => ({
    code: "XDSKIT_DANGLING_REFERENCE",
    severity: "warning",
    message: danglingMessage(reference, types, lacking, groups.length),
    ...whereNamed(resource, reference),
    type: resource.type.name,
    resource: resource.name,
  }));
}
