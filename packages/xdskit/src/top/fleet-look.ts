import type { FleetSummary, NodeRow, NodeRows, ProblemList, SourceReport } from "@xdskit/admin";
import type { SourceTrouble } from "@xdskit/server/status-client";
import type { ApiClient } from "../api-client/api-client.js";
import { isInTheWay } from "../output/messages/trouble-line.js";
import { allNodeRows } from "./fleet-rows.js";
import { type MetricTotals, metricTotals } from "./metric-totals.js";
import { serverTroubles, sourceTroubles } from "./source-troubles.js";

/** What is wrong, as the API lists it. */
export interface ProblemLine {
  readonly severity: "error" | "warning";
  readonly title: string;
  readonly count: number;
}

/** What one look at a server found. */
export interface FleetLook {
  readonly summary: FleetSummary;
  /** The worst first. */
  readonly rows: readonly NodeRow[];
  /** How many nodes fit the filter. */
  readonly total: number;
  readonly problems: readonly ProblemLine[];
  /** Of the sources, the settings and the state, and silent servers; empty where nobody asked. */
  readonly troubles: readonly SourceTrouble[];
  /** Undefined where nobody asked. */
  readonly metrics: MetricTotals | undefined;
}

/** Which nodes: ids, groups and states as the API filters them; what is left out selects all. */
export interface FleetFilter {
  readonly q?: string | undefined;
  readonly group?: string | undefined;
  readonly state?: string | undefined;
}

/** How much to ask for. */
export interface FleetQuestions {
  /** The most nodes. */
  readonly rows: number;
  /** Problems and metrics; otherwise what is wrong with the sources, and with the server itself. */
  readonly isTop: boolean;
}

/** Asks for the summary, the worst nodes, and what else is wanted. Rejects with an ApiError. */
export async function lookAtFleet(
  client: ApiClient,
  filter: FleetFilter,
  { rows, isTop }: FleetQuestions,
): Promise<FleetLook> {
  const given = Object.entries(filter).filter(([, value]) => value !== undefined) as [string, string][];
  const query = new URLSearchParams(given).toString();
  const and = query === "" ? "" : `&${query}`;
  const page = (limit: number, offset: number) =>
    client.get<NodeRows>(`/api/v1/fleet/nodes?sort=worst&limit=${limit}&offset=${offset}${and}`);
  const [summary, listed, found, text, { sources }] = await Promise.all([
    client.get<FleetSummary>(`/api/v1/fleet/summary?${query}`),
    allNodeRows(page, rows),
    client.get<Pick<ProblemList, "problems">>("/api/v1/problems"),
    isTop ? client.text("/metrics") : undefined,
    isTop ? { sources: [] } : client.get<{ readonly sources: readonly SourceReport[] }>("/api/v1/sources"),
  ]);
  const metrics = text === undefined ? undefined : metricTotals(text);
  const troubles = isTop ? [] : [...serverTroubles(found.problems), ...sourceTroubles(sources, summary.silent)];
  const problems = isTop ? found.problems : [];
  return { summary, rows: listed.nodes, total: listed.total, problems, troubles, metrics };
}

/** Whether all nodes run all that there is for them, and that is the newest. */
export function allIsWell({ summary: { nodes, states }, troubles }: Pick<FleetLook, "summary" | "troubles">): boolean {
  return states.synced === nodes && !troubles.some(isInTheWay);
}
