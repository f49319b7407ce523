import { noNodes, rankOf } from "@xdskit/server";
import type { StateCounts } from "../contract/answers.js";
import type { FleetMapJson, FleetSummary, NodeRow, NodeStateName } from "../contract/fleet.js";
import { maxInList } from "../contract/limits.js";
import type { RowsAsOf } from "./row-cache.js";

/** Counts nodes by each property that lists distinguish. `order`: types in the order of delivery. */
export function summaryOf({ at, rows, silent }: RowsAsOf, order: readonly string[]): FleetSummary {
  const states = noNodes();
  const revisions = { newest: noNodes(), before: noNodes() };
  const [types, groups, clients, replicas] = [new RowTally(), new RowTally(), new RowTally(), new RowTally()];
  for (const row of rows) {
    states[row.state] += 1;
    revisions[isHeldBack(row) ? "before" : "newest"][deliveryOf(row)] += 1;
    groups.add(row.group, row.state);
    clients.add(row.client, row.state);
    for (const replica of row.replicas) replicas.add(replica, row.state);
    for (const { type, state } of row.types) types.add(type, state);
  }
  return {
    asOf: new Date(at).toISOString(),
    nodes: rows.length,
    states,
    revisions,
    types: inOrder(types.names(), order).map((name) => types.counted(name)),
    groups: groups.all(),
    clients: clients.all(),
    replicas: replicas.all(),
    silent: [...silent],
  };
}

function isHeldBack({ types }: NodeRow): boolean {
  return types.some(({ heldBack }) => heldBack !== undefined);
}

/** How what a node is to run was delivered: what is kept from it is no part of that. */
function deliveryOf({ types }: NodeRow): NodeStateName {
  const states = types.map(({ state }) => (state === "held-back" ? "synced" : state));
  return states.reduce((worst, state) => (rankOf(state) > rankOf(worst) ? state : worst), "synced");
}

/** Nodes × types in at most this many columns. A column holds nodes of one group that are beside each other by id. */
export function mapOf({ at, rows }: RowsAsOf, columns: number, order: readonly string[]): FleetMapJson {
  const types = inOrder(new Set(rows.flatMap((row) => row.types.map(({ type }) => type))), order);
  const sorted = rows.toSorted((a, b) => (a.group < b.group ? -1 : a.group > b.group ? 1 : 0));
  const groups = new Set(rows.map(({ group }) => group)).size;
  // The last column of each group may be smaller.
  const size = Math.max(1, Math.ceil(rows.length / Math.max(1, columns - groups + 1)));
  const made: FleetMapJson["columns"] = [];
  for (let start = 0; start < sorted.length; ) {
    const first = sorted[start] as NodeRow;
    let end = start;
    while (end < sorted.length && end - start < size && sorted[end]?.group === first.group) end += 1;
    made.push(columnOf(sorted.slice(start, end), types));
    start = end;
  }
  return { asOf: new Date(at).toISOString(), nodes: rows.length, types, columns: made };
}

function columnOf(rows: readonly NodeRow[], types: readonly string[]): FleetMapJson["columns"][number] {
  const counts = types.map(noNodes);
  const worst: (NodeStateName | null)[] = types.map(() => null);
  for (const row of rows) {
    for (const { type, state } of row.types) {
      const index = types.indexOf(type);
      const known = worst[index] ?? null;
      const count = counts[index];
      if (count !== undefined) count[state] += 1;
      if (known === null || rankOf(state) > rankOf(known)) worst[index] = state;
    }
  }
  const [first, last] = [rows[0], rows.at(-1)];
  return { first: first?.id ?? "", last: last?.id ?? "", group: first?.group ?? "", nodes: rows.length, worst, counts };
}

function inOrder(names: Iterable<string>, order: readonly string[]): string[] {
  const position = (name: string) => (order.includes(name) ? order.indexOf(name) : order.length);
  return [...names].sort((a, b) => position(a) - position(b) || (a < b ? -1 : 1));
}

/** Counts by name. */
class RowTally {
  readonly #counts = new Map<string, StateCounts>();

  /** Clients choose their versions freely: only this many names are told apart. */
  add(name: string, state: NodeStateName): void {
    const key = this.#counts.has(name) || this.#counts.size < maxInList ? name : "(other)";
    const counts = this.#counts.get(key) ?? noNodes();
    counts[state] += 1;
    this.#counts.set(key, counts);
  }

  names(): Iterable<string> {
    return this.#counts.keys();
  }

  counted(name: string): { name: string; states: StateCounts } {
    return { name, states: this.#counts.get(name) ?? noNodes() };
  }

  all(): { name: string; states: StateCounts }[] {
    return [...this.names()].sort().map((name) => this.counted(name));
  }
}
