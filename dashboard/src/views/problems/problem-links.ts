import type { ProblemEntry } from "../../api/types.js";
import { linkTo } from "../../router.js";

/** To what the node rejects, where it is one resource. */
export function nodeLink(id: string, { kind, types, names }: ProblemEntry): string {
  const [type, name] = kind === "rejected" && types.length === 1 && names.length === 1 ? [types[0], names[0]] : [];
  return linkTo("node", type === undefined || name === undefined ? [id] : [id, type, name]);
}

/** Where to look. */
export function linkOf(problem: ProblemEntry): { readonly to: string; readonly text: string } | undefined {
  const { kind, type, types, names, nodes, count, groups } = problem;
  const [name] = names;
  const [node] = nodes;
  switch (kind) {
    case "rejected":
    case "silent": {
      const state = kind === "rejected" ? "rejected" : "stale";
      if (count === 1 && node !== undefined) return { to: nodeLink(node, problem), text: "See the node" };
      return {
        to: linkTo("fleet", [], { state, type: types.length === 1 ? (type ?? "") : "" }),
        text: "See these nodes",
      };
    }
    case "change-refused":
    case "folder-differs":
    case "origin":
      return { to: linkTo("change"), text: "See the change" };
    case "rollout-halted":
    case "quarantine":
      return { to: linkTo("rollouts"), text: "See the rollouts" };
    case "replica":
      return { to: linkTo("fleet"), text: "See the fleet" };
    case "restored":
    case "rolled-back":
      return { to: linkTo("history"), text: "See the history" };
    case "dangling":
    case "warning":
      if (type === null || name === undefined) return undefined;
      return { to: linkTo("config", [groups[0] ?? "", type, name]), text: "See the resource" };
    case "store":
    case "settings":
    case "certificate":
    case "client":
      return undefined;
  }
}
