import type { Resource } from "@xdskit/api";
import type { Usage } from "./usage.js";

/** What clients ask for without that anything names it. */
const roots: ReadonlySet<string> = new Set(["listener", "runtime", "listener-collection", "cluster-collection"]);

/** Nothing in its group names a resource that is there to be named. */
export function isUnused({ type, name, aliases }: Resource, usage: Usage): boolean {
  if (roots.has(type.name)) return false;
  return [name, ...aliases].every((one) => usage.usedBy({ type: type.typeUrl, name: one }).length === 0);
}
