import type { NodeRowType } from "../contract/answers.js";
import type { NodeProblem, NodeRow } from "../contract/fleet.js";

/** How many problems of nodes are told apart. */
const mostProblems = 200;
const mostIds = 20;

/** The problems of nodes. Nodes with the same reason for the same type are one problem; rejections come first. */
export function problemsOf(rows: readonly NodeRow[]): readonly NodeProblem[] {
  const found = new Map<string, NodeProblem>();
  for (const row of rows) {
    for (const type of row.types) {
      if (type.state !== "rejected" && type.state !== "stale") continue;
      const reason = reasonOf(type);
      const key = JSON.stringify([type.state, type.type, withoutNumbers(reason)]);
      const known = found.get(key);
      if (known !== undefined) join(known, row, type);
      else if (found.size < mostProblems) found.set(key, problemOf(row, type, type.state, reason));
    }
  }
  const problems = [...found.values()];
  return problems.sort((a, b) => Number(a.kind === "stale") - Number(b.kind === "stale") || b.nodes - a.nodes);
}

function problemOf(row: NodeRow, type: NodeRowType, kind: NodeProblem["kind"], reason: string): NodeProblem {
  const since = sinceOf(type);
  const blamed = type.rejected?.blamed ?? [];
  return { kind, type: type.type, reason, nodes: 1, ids: [row.id], groups: [row.group], since, blamed: [...blamed] };
}

function join(known: NodeProblem, row: NodeRow, type: NodeRowType): void {
  known.nodes += 1;
  if (known.ids.length < mostIds) known.ids.push(row.id);
  if (!known.groups.includes(row.group)) known.groups.push(row.group);
  const since = sinceOf(type);
  if (since !== null && (known.since === null || since < known.since)) known.since = since;
}

function reasonOf({ state, why }: NodeRowType): string {
  return state === "rejected" ? why : `silent: ${why}`;
}

/** Clients write addresses and lengths into otherwise equal reasons. */
function withoutNumbers(reason: string): string {
  return reason.replace(/\d+/g, "0");
}

function sinceOf({ rejected }: NodeRowType): string | null {
  return rejected?.at ?? null;
}
