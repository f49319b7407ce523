import { getOrInsert } from "@xdskit/api";
import type { ClusterLoad, Node } from "@xdskit/protocol";
import { localityKey } from "../../contracts/nodes/load-report.js";
import type { DropTotals, LocalityTotals } from "../../contracts/nodes/load-totals.js";

/** The requests in progress in a locality of a cluster, as one node reports. */
interface CurrentLoad {
  readonly cluster: string;
  readonly locality: { readonly locality: Node["locality"]; readonly inProgress: number };
}

const most = { clusters: 2_000, localities: 200, categories: 50 } as const;
const other = "(other)";
const otherLocality: Node["locality"] = { region: other, zone: other, subZone: other };

type MutableTotals<T> = { -readonly [K in keyof T]: T[K] };
interface TotalsRow {
  readonly localities: Map<string, MutableTotals<LocalityTotals>>;
  readonly categories: Map<string, MutableTotals<DropTotals>>;
}

/**
 * Sums up reports. The cluster that was in no report for longest loses its row first, and starts from 0 if it comes
 * back.
 */
export function createLoadCounters(limits: { readonly [K in keyof typeof most]: number } = most) {
  /** The cluster that was not reported for longest is the first. */
  const clusters = new Map<string, TotalsRow>();

  function rowOf(cluster: string): TotalsRow {
    const row = clusters.get(cluster) ?? { localities: new Map(), categories: new Map() };
    clusters.delete(cluster);
    clusters.set(cluster, row);
    if (clusters.size > limits.clusters) {
      for (const longest of clusters.keys()) {
        if (longest === other) continue;
        clusters.delete(longest);
        break;
      }
    }
    return row;
  }

  function localityOf(
    { localities }: TotalsRow,
    cluster: string,
    asked: Node["locality"],
  ): MutableTotals<LocalityTotals> {
    const full = localities.size >= limits.localities && !localities.has(localityKey(asked));
    const locality = full ? otherLocality : asked;
    return getOrInsert(localities, localityKey(locality), () => ({
      cluster,
      locality,
      successful: 0,
      errors: 0,
      issued: 0,
      inProgress: 0,
    }));
  }

  function drop({ categories }: TotalsRow, cluster: string, asked: string, count: number): void {
    if (count <= 0) return;
    const category = categories.size >= limits.categories && !categories.has(asked) ? other : asked;
    getOrInsert(categories, category, () => ({ cluster, category, count: 0 })).count += count;
  }

  return {
    /**
     * `known` says whether the server knows a cluster; others share one row, or clients could make rows without end.
     */
    add(loads: readonly ClusterLoad[], known: (cluster: string) => boolean) {
      for (const load of loads) {
        const { localities, dropped, droppedByCategory } = load;
        if (localities.length === 0 && dropped === 0 && droppedByCategory.length === 0) continue;
        const cluster = known(load.cluster) ? load.cluster : other;
        const row = rowOf(cluster);
        for (const { locality, successful, errors, issued } of localities) {
          const totals = localityOf(row, cluster, locality);
          totals.successful += successful;
          totals.errors += errors;
          totals.issued += issued;
        }
        let named = 0;
        for (const { category, count } of droppedByCategory) {
          named += count;
          drop(row, cluster, category, count);
        }
        drop(row, cluster, "(none)", dropped - named);
      }
    },
    /** Rows by locality, with the requests in progress now. */
    localities(current: Iterable<CurrentLoad>): readonly LocalityTotals[] {
      for (const { localities } of clusters.values()) for (const row of localities.values()) row.inProgress = 0;
      for (const { cluster, locality } of current) {
        const { localities } = clusters.get(cluster) ?? clusters.get(other) ?? {};
        const row = localities?.get(localityKey(locality.locality)) ?? localities?.get(localityKey(otherLocality));
        if (row !== undefined) row.inProgress += locality.inProgress;
      }
      return Array.from(clusters.values(), (row) =>
        Array.from(row.localities.values(), (each) => ({ ...each })),
      ).flat();
    },
    get drops(): readonly DropTotals[] {
      return Array.from(clusters.values(), (row) =>
        Array.from(row.categories.values(), (each) => ({ ...each })),
      ).flat();
    },
  };
}
