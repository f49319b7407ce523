import type { ResourceName } from "@xdskit/api";

/** So many clusters may stand below each other, the first included (A37). */
export const aggregateDepth = 16;

/**
 * The clusters at the ends below an aggregate cluster, depth first, each once (A37); or why that cannot be said. `below` gives what an aggregate cluster names,
 * `end` for any other cluster, and undefined for one that is not looked for because it is too deep.
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
