import { nodeStates, type XdsServer } from "@xdskit/server";
import type { NodeFilter, ServedFleet } from "../contract/fleet.js";
import { mustBeKnown } from "../contract/known-values.js";
import { mapOf, summaryOf } from "./count-rows.js";
import { problemsOf } from "./problem-groups.js";
import type { RowsAsOf } from "./row-cache.js";
import { fitting, pageOf } from "./select-rows.js";

/** The answers of a fleet about many nodes. */
export type ListAnswers = Pick<ServedFleet, "rows" | "check" | "summary" | "map" | "problems">;

/** Answers from the rows of all nodes, wherever these come from. */
export function answersFromRows(all: () => Promise<RowsAsOf>, server: Pick<XdsServer, "types" | "stats">): ListAnswers {
  const order = [...server.types.all].toSorted((a, b) => a.deliveryOrder - b.deliveryOrder).map(({ name }) => name);
  const checked = async (filter: NodeFilter): Promise<RowsAsOf> => {
    const found = await all();
    const { state, type } = filter;
    mustBeKnown("state", state, nodeStates);
    mustBeKnown("type", type === undefined ? undefined : [type], order);
    for (const field of ["group", "client", "replica"] as const) {
      if (filter[field] === undefined) continue;
      const known = new Set(found.rows.flatMap((row) => (field === "replica" ? row.replicas : row[field])));
      if (field === "group") for (const { name } of server.stats().groups) known.add(name);
      if (field === "replica") for (const { replica } of found.silent) known.add(replica);
      mustBeKnown(field, filter[field], [...known].sort());
    }
    return found;
  };
  const fittingNow = async (filter: NodeFilter): Promise<RowsAsOf> => {
    const found = await checked(filter);
    return { ...found, rows: fitting(found.rows, filter) };
  };
  return {
    rows: async (query) => {
      return pageOf(await checked(query), query);
    },
    async check(filter) {
      await checked(filter);
    },
    summary: async (filter) => summaryOf(await fittingNow(filter), order),
    map: async (filter, columns) => mapOf(await fittingNow(filter), columns, order),
    problems: async () => {
      const { rows, silent } = await all();
      return { nodes: problemsOf(rows), silent: [...silent] };
    },
  };
}
