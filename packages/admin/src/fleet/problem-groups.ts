import type { NodeRowType } from "../contract/answers.js";
import type { NodeProblem, NodeRow } from "../contract/fleet.js";
import { maxInEntry, maxInList } from "../contract/limits.js";

/** A problem while nodes are counted. */
interface CountedProblem extends NodeProblem {
  nodes: number;
  since: string | null;
  /** The node that was counted last: it may have the problem with several types. */
  last: string;
}

/**
 * The problems of nodes; rejections come first. One reason is one problem, for however many nodes and types: it is
 * fixed at one place.
 */
export function problemsOf(rows: readonly NodeRow[]): readonly NodeProblem[] {
  const found = new Map<string, CountedProblem>();
  for (const row of rows) {
    for (const type of row.types) {
      if (type.state !== "rejected" && type.state !== "stale") continue;
      const reason = type.why;
      const id = `${type.state} ${withoutNumbers(reason)}`;
      const known = found.get(id);
      if (known !== undefined) join(known, row, type);
      else if (found.size < maxInList) found.set(id, nodeProblem(id, row, type, reason));
    }
  }
  const problems = [...found.values()].map(({ last: _, ...problem }) => problem);
  return problems.sort((a, b) => Number(a.kind === "stale") - Number(b.kind === "stale") || b.nodes - a.nodes);
}

function nodeProblem(id: string, row: NodeRow, type: NodeRowType, reason: string): CountedProblem {
  const blamed = [...(type.rejected?.blamed ?? [])];
  const kind = type.state === "rejected" ? "rejected" : "stale";
  const one = { nodes: 1, ids: [row.id], groups: [row.group], last: row.id };
  const resources = type.rejected?.resources ?? 0;
  return { id, kind, types: [type.type], reason, since: sinceOf(type), blamed, resources, ...one };
}

function join(known: CountedProblem, row: NodeRow, type: NodeRowType): void {
  if (!known.types.includes(type.type)) known.types.push(type.type);
  for (const name of type.rejected?.blamed ?? [])
    if (known.blamed.length < maxInEntry && !known.blamed.includes(name)) known.blamed.push(name);
  known.resources = Math.max(known.resources, type.rejected?.resources ?? 0);
  const since = sinceOf(type);
  if (since !== null && (known.since === null || since < known.since)) known.since = since;
  if (known.last === row.id) return;
  known.last = row.id;
  known.nodes += 1;
  if (known.ids.length < maxInEntry) known.ids.push(row.id);
  if (!known.groups.includes(row.group)) known.groups.push(row.group);
}

/** Clients write addresses and lengths into otherwise equal reasons. */
function withoutNumbers(reason: string): string {
  return reason.replace(/\d+/g, "0");
}

function sinceOf({ rejected }: NodeRowType): string | null {
  return rejected?.at ?? null;
}
