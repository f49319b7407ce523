import type { Resource } from "@xdskit/api";
import type { FollowedNames } from "@xdskit/protocol";

/** The types that clients ask for without a reference. */
const roots: ReadonlySet<string> = new Set(["listener", "runtime", "listener-collection", "cluster-collection"]);

/** Whether nothing in its group names a resource of a type that others name. */
export function isUnused({ type, name, aliases }: Resource, names: FollowedNames): boolean {
  if (roots.has(type.name)) return false;
  return [name, ...aliases].every((one) => names.users({ type: type.typeUrl, name: one }).length === 0);
}
