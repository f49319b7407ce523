import type { FleetSummary, NodeRow, NodeRows } from "@xdskit/admin";
import type { ApiClient } from "../api-client/api-client.js";
import { type MetricTotals, metricTotals } from "./metric-totals.js";

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
  /** Undefined where nobody asked. */
  readonly metrics: MetricTotals | undefined;
}

/** Which nodes: ids, groups and states as the API filters them; what is left out selects all. */
export interface FleetFilter {
  readonly q?: string | undefined;
  readonly group?: string | undefined;
  readonly state?: string | undefined;
}

/** Asks for the summary, the worst nodes, and, for `top`, problems and metrics. Rejects with an ApiError. */
export async function lookAtFleet(
  client: ApiClient,
  filter: FleetFilter,
  { rows, isTop }: { readonly rows: number; readonly isTop: boolean },
): Promise<FleetLook> {
  const given = Object.entries(filter).filter(([, value]) => value !== undefined) as [string, string][];
  const query = new URLSearchParams(given).toString();
  const and = query === "" ? "" : `&${query}`;
  const limit = Math.max(1, Math.min(1_000, rows));
  const [summary, page, found, text] = await Promise.all([
    client.get<FleetSummary>(`/api/v1/fleet/summary?${query}`),
    client.get<NodeRows>(`/api/v1/fleet/nodes?sort=worst&limit=${limit}${and}`),
    isTop ? client.get<{ readonly problems: readonly ProblemLine[] }>("/api/v1/problems") : { problems: [] },
    isTop ? client.text("/metrics") : undefined,
  ]);
  const metrics = text === undefined ? undefined : metricTotals(text);
  return { summary, rows: page.nodes, total: page.total, problems: found.problems, metrics };
}
