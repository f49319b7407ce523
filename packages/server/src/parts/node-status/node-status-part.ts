import { checkServerCall } from "../../configuration/option-tables.js";
import type { Kernel } from "../../contracts/parts/kernel.js";
import type { PluggedPart } from "../../contracts/parts/part.js";
import { NodeHistories } from "./node-histories.js";
import { createNodeReports } from "./node-reports.js";

/** What each node runs, and what happened to it last. */
export function nodeStatusPart({ streams, clock, types, events }: Kernel): PluggedPart {
  const reports = createNodeReports(streams, clock, types);
  const histories = new NodeHistories(events);
  return {
    progress: histories,
    answers: {
      ...reports,
      nodes(filter = {}) {
        checkServerCall("server.nodes", filter);
        return reports.nodes(filter);
      },
      eachNode(filter = {}) {
        checkServerCall("server.eachNode", filter);
        return reports.eachNode(filter);
      },
      nodeConfig(id, filter = {}) {
        checkServerCall("server.nodeConfig", filter);
        return reports.nodeConfig(id, filter);
      },
      nodeHistory: (id) => histories.moments(id) ?? [],
    },
  };
}
