import type { ClusterLoad, LoadMetric, LocalityLoad, Node } from "@xdskit/protocol";

/** The last report of a node about one locality of a cluster. */
export interface LocalityReport extends LocalityLoad {
  /** The length of the reported time, in milliseconds. */
  readonly intervalMs: number;
  /**
   * When it arrived, in milliseconds since 1970. Clients leave out a locality without requests, whose report then is
   * older than its cluster's.
   */
  readonly receivedAt: number;
}

/**
 * The last report of a node about one cluster (LRS). Nodes are told apart by id: of several clients with one id, the
 * last to report counts.
 */
export interface LoadReport extends Omit<ClusterLoad, "localities"> {
  readonly node: Pick<Node, "id" | "cluster" | "locality">;
  /** The name of the node's group. */
  readonly group: string;
  /** In milliseconds since 1970. */
  readonly receivedAt: number;
  readonly localities: readonly LocalityReport[];
}

/** Selects reports; a field that is left out selects all. */
export interface LoadReportFilter {
  /** The id of a node. */
  readonly node?: string | undefined;
  readonly cluster?: string | undefined;
}

/** A locality as a key of maps; clients choose the parts, so they are kept apart. */
export function localityKey({ region, zone, subZone }: Node["locality"], priority = 0): string {
  return JSON.stringify([region, zone, subZone, priority]);
}

/** About how many bytes of memory a locality's report takes. */
export function weightOf({ locality, metrics, endpoints }: LocalityLoad): number {
  const { region, zone, subZone } = locality;
  let weight = 400 + 3 * (region.length + zone.length + subZone.length) + weightOfMetrics(metrics);
  for (const endpoint of endpoints) weight += 200 + 2 * endpoint.address.length + weightOfMetrics(endpoint.metrics);
  return weight;
}

function weightOfMetrics(metrics: readonly LoadMetric[]): number {
  return metrics.reduce((sum, { name }) => sum + 100 + 2 * name.length, 0);
}
