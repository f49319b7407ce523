import type { ResourceName } from "@xdskit/api";

/** The number of clusters that may lie below each other, the first included (A37). */
export const aggregateDepth = 16;

/**
 * The clusters at the ends below an aggregate cluster, depth first, each once (A37), or why they cannot be found.
 * `below` gives the clusters that an aggregate cluster names, `end` for any other cluster, and undefined for a cluster
 * that is not looked up because it is too deep.
 */
export function leavesOf(
  root: ResourceName,
  below: (name: ResourceName) => readonly ResourceName[] | "end" | undefined,
): { readonly leaves: readonly ResourceName[] } | { readonly problem: string } {
  const leaves = new Set<ResourceName>();
  const visited = new Set<ResourceName>();
  const path: ResourceName[] = [];
  const visit = (name: ResourceName): string | undefined => {
    if (path.includes(name)) return `aggregate clusters lead back to ${JSON.stringify(name)}`;
    if (visited.has(name)) return undefined;
    const next = path.length < aggregateDepth ? below(name) : undefined;
    if (next === undefined) return `aggregate clusters lead deeper than ${aggregateDepth} levels`;
    visited.add(name);
    if (next === "end") {
      leaves.add(name);
      return undefined;
    }
    path.push(name);
    for (const child of next) {
      const problem = visit(child);
      if (problem !== undefined) return problem;
    }
    path.pop();
    return undefined;
  };
  const problem = visit(root);
  return problem === undefined ? { leaves: [...leaves] } : { problem };
}
