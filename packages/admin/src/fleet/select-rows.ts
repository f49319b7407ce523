import { rankOf } from "@xdskit/server";
import type { NodeFilter, NodeRow, NodeRows, NodeRowsQuery, NodeSort } from "../contract/fleet.js";
import type { RowsAsOf } from "./row-cache.js";

/** The rows that a filter selects. */
export function fitting(rows: readonly NodeRow[], filter: NodeFilter): readonly NodeRow[] {
  const { q = "", state, group, client, replica, type, from, to } = filter;
  const wanted = q.toLowerCase();
  const isAll = wanted === "" && Object.values(filter).every((value) => value === undefined);
  if (isAll) return rows;
  return rows.filter((row) => {
    const states =
      type === undefined ? [row.state] : row.types.filter((one) => one.type === type).map((one) => one.state);
    return (
      states.some((one) => isIn(state, one)) &&
      (from === undefined || row.id >= from) &&
      (to === undefined || row.id <= to) &&
      isIn(group, row.group) &&
      isIn(client, row.client) &&
      row.replicas.some((one) => isIn(replica, one)) &&
      (wanted === "" || searched(row).some((text) => text.toLowerCase().includes(wanted)))
    );
  });
}

/** A page of those that fit, in the order that is asked for. */
export function pageOf({ at, rows }: RowsAsOf, query: NodeRowsQuery): NodeRows {
  const { sort, descending, offset, limit } = query;
  const found = fitting(rows, query);
  const sign = descending ? -1 : 1;
  const keys = orders[sort];
  const inOrder = (a: NodeRow, b: NodeRow) => {
    for (const key of keys) {
      const difference = compare(key(a), key(b));
      if (difference !== 0) return sign * difference;
    }
    return compare(a.id, b.id);
  };
  const sorted = sort === "id" && !descending ? found : found.toSorted(inOrder);
  return { asOf: new Date(at).toISOString(), total: found.length, nodes: sorted.slice(offset, offset + limit) };
}

function searched({ id, cluster, client, locality, why }: NodeRow): readonly string[] {
  return [id, cluster, client, locality, why];
}

function isIn(wanted: readonly string[] | undefined, value: string): boolean {
  return wanted === undefined || wanted.includes(value);
}

const badness = ({ state }: NodeRow) => -rankOf(state);
const slowness = ({ lagMs }: NodeRow) => -(lagMs ?? -1);

/** The smallest value comes first; among those with the same one, the smallest of the next key. */
const orders: Readonly<Record<NodeSort, readonly ((row: NodeRow) => string | number)[]>> = {
  id: [({ id }) => id],
  state: [badness],
  worst: [badness, slowness],
  group: [({ group }) => group],
  client: [({ client }) => client],
  replica: [({ replicas }) => replicas.join()],
  connected: [({ connectedSince }) => connectedSince],
  lag: [slowness],
  behind: [({ behind }) => -behind],
};

function compare(a: string | number, b: string | number): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
