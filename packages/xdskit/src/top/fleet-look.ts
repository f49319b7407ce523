import type { FleetSummary, NodeRow } from "@xdskit/admin/answers";
import type { SourceTrouble } from "@xdskit/server/status-client";
import type { ApiClient } from "../api-client/api-client.js";
import { ApiError } from "../api-client/api-error.js";
import type { RevisionJson } from "../api-client/api-types.js";
import { isInTheWay } from "../output/messages/trouble-line.js";
import { nodeColours } from "../output/state-colours.js";
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
  /** What `--name` calls the server; undefined: nothing. */
  readonly name: string | undefined;
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
  /** The newest revision of each layer; empty where nobody asked. */
  readonly heads: readonly RevisionJson[];
}

/** Which nodes: ids, groups and states as the API filters them; what is left out selects all. */
export interface FleetFilter {
  readonly q?: string | undefined;
  readonly group?: string | undefined;
  readonly state?: string | undefined;
}

/** How much to ask for. */
export interface LookScope {
  /** The most nodes. */
  readonly rows: number;
  /** Problems and metrics; otherwise what is wrong with the sources and the server itself, and the revisions. */
  readonly isTop: boolean;
  /** Lists no node that is synced; they are counted. */
  readonly notSynced?: boolean | undefined;
}

const othersThanSynced = Object.keys(nodeColours)
  .filter((state) => state !== "synced")
  .join(",");

/** Asks for the summary, the worst nodes, and what else is wanted. Rejects with an ApiError. */
export async function lookAtFleet(
  client: ApiClient,
  filter: FleetFilter,
  { rows, isTop, notSynced = false }: LookScope,
): Promise<FleetLook> {
  const query = { ...filter };
  const only = notSynced ? { ...query, state: othersThanSynced } : query;
  const plain = (limit: number, offset: number, revisions?: true) =>
    client.get("/api/v1/fleet/nodes", { query: { sort: "worst", limit, offset, revisions, ...only } });
  const page = (limit: number, offset: number) =>
    plain(limit, offset, true).catch((error: unknown) => {
      // A server of an older version refuses what it does not know.
      if (error instanceof ApiError && error.status === 400) return plain(limit, offset);
      throw error;
    });
  const [{ name }, summary, listed, found, text, { sources }, { layers }] = await Promise.all([
    client.get("/api/v1/server"),
    client.get("/api/v1/fleet/summary", { query }),
    allNodeRows(page, rows),
    client.get("/api/v1/problems"),
    isTop ? client.text("/metrics") : undefined,
    isTop ? { sources: [] } : client.get("/api/v1/sources"),
    isTop ? { layers: [] } : client.get("/api/v1/layers"),
  ]);
  const metrics = text === undefined ? undefined : metricTotals(text);
  const troubles = isTop ? [] : [...serverTroubles(found.problems), ...sourceTroubles(sources, summary.silent)];
  const heads = layers.flatMap(({ head }) => head ?? []);
  const problems = isTop ? found.problems : [];
  return {
    name: name ?? undefined,
    summary,
    rows: listed.nodes,
    total: listed.total,
    problems,
    troubles,
    metrics,
    heads,
  };
}

/** Whether all nodes run all that there is for them, and that is the newest. */
export function allIsWell({ summary: { nodes, states }, troubles }: Pick<FleetLook, "summary" | "troubles">): boolean {
  return states.synced === nodes && !troubles.some(isInTheWay);
}
