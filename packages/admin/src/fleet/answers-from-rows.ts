import type { ResourceTypes } from "@xdskit/api";
import type { Fleet } from "../contract/fleet.js";
import { mapOf, summaryOf } from "./count-rows.js";
import { problemsOf } from "./problem-groups.js";
import type { RowsAsOf } from "./row-cache.js";
import { fitting, pageOf } from "./select-rows.js";

/** The answers of a fleet about many nodes. */
export type ListAnswers = Pick<Fleet, "rows" | "summary" | "map" | "problems">;

/** Answers from the rows of all nodes, wherever these come from. */
export function answersFromRows(all: () => Promise<RowsAsOf>, types: ResourceTypes): ListAnswers {
  const order = [...types.all].toSorted((a, b) => a.deliveryOrder - b.deliveryOrder).map(({ name }) => name);
  const fittingNow = async (filter: Parameters<Fleet["summary"]>[0]): Promise<RowsAsOf> => {
    const found = await all();
    return { ...found, rows: fitting(found.rows, filter) };
  };
  return {
    rows: async (query) => pageOf(await all(), query),
    summary: async (filter) => summaryOf(await fittingNow(filter), order),
    map: async (filter, columns) => mapOf(await fittingNow(filter), columns, order),
    problems: async () => {
      const { rows, silent } = await all();
      return { nodes: problemsOf(rows), silent: [...silent] };
    },
  };
}
