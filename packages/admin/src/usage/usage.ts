import { isCollection, perObject, type Resource, refersTo, type TypeUrl } from "@xdskit/api";
import { hasNamed, type Snapshot } from "@xdskit/protocol";

/** A resource by its type URL and name. */
export interface Named {
  readonly type: TypeUrl;
  readonly name: string;
}

/** The references in one snapshot. */
export interface Usage {
  has(named: Named): boolean;
  /** The resources that name it. */
  usedBy(named: Named): readonly Resource[];
  /** The names in a resource that the snapshot lacks. */
  dangling(resource: Resource): readonly Named[];
}

/** Costs all references of the snapshot when it is first asked for. */
export const usageOf = perObject(createUsage);

function createUsage(snapshot: Snapshot): Usage {
  const referrers = new Map<string, Resource[]>();
  /** The references to everything with a prefix. */
  const collections: { readonly resource: Resource; readonly reference: Resource["references"][number] }[] = [];
  for (const set of snapshot.sets.values()) {
    for (const resource of set) {
      for (const reference of resource.references) {
        if (isCollection(reference)) collections.push({ resource, reference });
        else push(referrers, keyOf(reference), resource);
      }
    }
  }
  const has = (named: Named) => hasNamed(snapshot, named);
  return {
    has,
    usedBy(named: Named): readonly Resource[] {
      const many = collections.filter(({ reference }) => refersTo(reference, named.type, named.name));
      return [...new Set([...(referrers.get(keyOf(named)) ?? []), ...many.map(({ resource }) => resource)])];
    },
    dangling: ({ references }: Resource): readonly Named[] =>
      references.filter((one) => !isCollection(one) && !has(one)),
  };
}

function push(map: Map<string, Resource[]>, key: string, resource: Resource): void {
  const list = map.get(key);
  if (list === undefined) map.set(key, [resource]);
  else if (list.at(-1) !== resource) list.push(resource);
}

function keyOf({ type, name }: Named): string {
  return `${type} ${name}`;
}
