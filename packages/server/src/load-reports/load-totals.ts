import type { ClusterLoad, Node } from "@xdskit/protocol";
import { localityKey } from "./load-report.js";

/** All that clients reported of one locality of a cluster since the start, summed over nodes: counters, but for `inProgress`. */
export interface LocalityTotals {
  /** `(other)` for all clusters together that the server does not know. */
  readonly cluster: string;
  /** `(other)` in each part for all localities of a cluster together beyond the first 200. */
  readonly locality: Node["locality"];
  readonly successful: number;
  readonly errors: number;
  readonly issued: number;
  /** Now: what those clients said last that have a stream. */
  readonly inProgress: number;
}

/** Requests that clients dropped on purpose since the start, by cluster and category. */
export interface DropTotals {
  readonly cluster: string;
  /** `(none)` for what was dropped for no named category, such as by circuit breaking; `(other)` for all beyond the first 50. */
  readonly category: string;
  readonly count: number;
}

/** Numbers about load reporting, summed over nodes. Their rows are bounded, whatever clients send. */
export interface LoadTotals {
  /** By version of the API: open streams, and messages with a report since the start. */
  readonly streams: readonly { readonly api: "v2" | "v3"; readonly open: number; readonly reports: number }[];
  /** Nodes of which a report is kept. */
  readonly nodes: number;
  readonly localities: readonly LocalityTotals[];
  readonly drops: readonly DropTotals[];
}

/** Sums reports up. A cluster that was in no report for longest gives its place away: it starts from 0 if it comes back. */
export interface LoadCounters {
  /** `known` says whether the server knows a cluster; others share one row, or clients could make rows without end. */
  add(clusters: readonly ClusterLoad[], known: (cluster: string) => boolean): void;
  /** Rows by locality, with what is under way now. */
  localities(current: Iterable<CurrentLoad>): readonly LocalityTotals[];
  readonly drops: readonly DropTotals[];
}

/** What is under way in a locality of a cluster, as one node says. */
interface CurrentLoad {
  readonly cluster: string;
  readonly locality: { readonly locality: Node["locality"]; readonly inProgress: number };
}

const most = { clusters: 2_000, localities: 200, categories: 50 } as const;
const other = "(other)";
const otherLocality: Node["locality"] = { region: other, zone: other, subZone: other };

type Mutable<T> = { -readonly [K in keyof T]: T[K] };
interface Row {
  readonly localities: Map<string, Mutable<LocalityTotals>>;
  readonly categories: Map<string, Mutable<DropTotals>>;
}

export function createLoadCounters(limits: { readonly [K in keyof typeof most]: number } = most): LoadCounters {
  /** The cluster that was not reported for longest is the first. */
  const clusters = new Map<string, Row>();

  function rowOf(cluster: string): Row {
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

  function localityOf({ localities }: Row, cluster: string, asked: Node["locality"]): Mutable<LocalityTotals> {
    const full = localities.size >= limits.localities && !localities.has(localityKey(asked));
    const locality = full ? otherLocality : asked;
    return found(localities, localityKey(locality), () => ({
      cluster,
      locality,
      successful: 0,
      errors: 0,
      issued: 0,
      inProgress: 0,
    }));
  }

  function drop({ categories }: Row, cluster: string, asked: string, count: number): void {
    if (count <= 0) return;
    const category = categories.size >= limits.categories && !categories.has(asked) ? other : asked;
    found(categories, category, () => ({ cluster, category, count: 0 })).count += count;
  }

  return {
    add(loads, known) {
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
    localities(current) {
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
    get drops() {
      return Array.from(clusters.values(), (row) =>
        Array.from(row.categories.values(), (each) => ({ ...each })),
      ).flat();
    },
  };
}

function found<Value>(map: Map<string, Value>, key: string, make: () => Value): Value {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make();
  map.set(key, made);
  return made;
}
