import {
  type Finding,
  isCollection,
  type Reference,
  type Resource,
  type ResourceTypes,
  refersTo,
  type Where,
} from "@xdskit/api";

/** The resources that a group's nodes are served. */
export interface GroupResources {
  readonly group: string;
  readonly resources: readonly Resource[];
}

/**
 * Every reference to a resource that its group does not have, once, as a warning: a server cannot know what a client has from
 * elsewhere, such as the clusters of an Envoy's bootstrap.
 */
export function danglingReferences(
  groups: readonly GroupResources[],
  types: ResourceTypes,
  whereNamed: (resource: Resource, reference: Reference) => Where | undefined,
): readonly Finding[] {
  const missing = new Map<string, { resource: Resource; reference: Reference; groups: string[] }>();
  for (const { group, resources } of groups) {
    const names = namesByType(resources);
    for (const resource of resources) {
      for (const reference of resource.references) {
        if (exists(reference, names)) continue;
        const key = [resource.type.typeUrl, resource.name, reference.type, reference.name].join("\n");
        const known = missing.get(key);
        if (known === undefined) missing.set(key, { resource, reference, groups: [group] });
        else known.groups.push(group);
      }
    }
  }
  return Array.from(missing.values(), ({ resource, reference, groups: lacking }) => {
    const what = `${types.byTypeUrl(reference.type)?.type.name ?? reference.type} ${JSON.stringify(reference.name)}`;
    const where = lacking.length === groups.length ? "which does not exist" : `which group ${lacking.join(", ")} lacks`;
    const { file, line, column, field } = whereNamed(resource, reference) ?? {};
    return {
      code: "XDSKIT_DANGLING_REFERENCE",
      severity: "warning",
      message: `names ${what}, ${where}`,
      ...{ file, line, column, field, type: resource.type.name, resource: resource.name },
    };
  });
}

type NamesByType = ReadonlyMap<string, ReadonlySet<string>>;

function namesByType(resources: readonly Resource[]): NamesByType {
  const names = new Map<string, Set<string>>();
  for (const { type, key: name } of resources) {
    const known = names.get(type.typeUrl);
    if (known === undefined) names.set(type.typeUrl, new Set([name]));
    else known.add(name);
  }
  return names;
}

function exists(reference: Reference, names: NamesByType): boolean {
  const known = names.get(reference.type);
  if (known === undefined) return false;
  if (!isCollection(reference)) return known.has(reference.name);
  for (const name of known) if (refersTo(reference, reference.type, name)) return true;
  return false;
}
