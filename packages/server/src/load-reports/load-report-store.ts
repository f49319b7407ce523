import type { ClusterLoad, Node } from "@xdskit/protocol";
import {
  type LoadReport,
  type LoadReportFilter,
  type LocalityReport,
  localityKey,
  weightOf,
} from "../contracts/load-report.js";
import type { StoreLimits } from "../settings/limits.js";

/** A node that reports. */
export interface Reporter {
  readonly node: Node;
  readonly group: string;
}

/** The latest reports of each node, by cluster and locality. It reads no clock: times are milliseconds since 1970. */
export interface LoadReportStore {
  /** A stream of the node began; `ended` must be called once when it is over. */
  began(node: string): void;
  ended(node: string, now: number): void;
  /** `continues`: it is the next part of the report that was recorded last. */
  record(reporter: Reporter, clusters: readonly ClusterLoad[], now: number, continues?: boolean): void;
  /** Forgets the nodes whose last stream ended that long ago. */
  sweep(endedBefore: number): void;
  reports(filter?: LoadReportFilter): readonly LoadReport[];
  /** The localities in the last message of each node that still has a stream: the load of now. */
  current(): Iterable<{ readonly cluster: string; readonly locality: LocalityReport }>;
  /** Nodes with a report that is kept. */
  readonly nodes: number;
  /** Nodes that wait for `sweep`. */
  readonly leaving: number;
  /** About how many bytes the kept reports take. */
  readonly weight: number;
}

/** Localities that are kept of one cluster of one node. */
const localitiesPerCluster = 10_000;

interface Kept {
  readonly report: Omit<LoadReport, "localities">;
  readonly localities: Map<string, LocalityReport>;
  /** The weight of everything, and of the localities alone, so that a report need not weigh all again. */
  readonly weight: number;
  readonly localitiesWeight: number;
}

interface Entry {
  /** The one that was reported longest ago is the first. */
  readonly clusters: Map<string, Kept>;
  streams: number;
  endedAt: number | undefined;
  lastReport: number;
}

export function createLoadReportStore({ reportNodes, reportBytes }: StoreLimits): LoadReportStore {
  /** The node that reported longest ago is the first. */
  const entries = new Map<string, Entry>();
  /** Open streams of nodes that have none of their reports kept, perhaps because there are too many others. */
  const streams = new Map<string, number>();
  const leaving = new Set<string>();
  let weight = 0;

  function forget(id: string, entry: Entry): void {
    for (const kept of entry.clusters.values()) weight -= kept.weight;
    entries.delete(id);
    leaving.delete(id);
  }

  function forgetCluster(entry: Entry, key: string, kept: Kept): void {
    weight -= kept.weight;
    entry.clusters.delete(key);
  }

  /** The newest one goes last, and in parts, since it alone may be too much. */
  function makeRoom(): void {
    for (const [id, entry] of entries) {
      if (entries.size <= reportNodes && (weight <= reportBytes || entries.size === 1)) break;
      forget(id, entry);
    }
    for (const entry of entries.values()) {
      for (const [key, kept] of entry.clusters) {
        if (weight <= reportBytes) return;
        forgetCluster(entry, key, kept);
      }
    }
  }

  function entryOf(id: string): Entry {
    const entry = entries.get(id) ?? {
      clusters: new Map(),
      streams: streams.get(id) ?? 0,
      endedAt: undefined,
      lastReport: 0,
    };
    entries.delete(id);
    entries.set(id, entry);
    return entry;
  }

  function merge(entry: Entry, { node, group }: Reporter, load: ClusterLoad, now: number): void {
    const { cluster, service, intervalMs, dropped, droppedByCategory } = load;
    const key = JSON.stringify([cluster, service]);
    const known = entry.clusters.get(key);
    if (known === undefined && isIdle(load)) return;
    const localities = known?.localities ?? new Map<string, LocalityReport>();
    let localitiesWeight = known?.localitiesWeight ?? 0;
    const forgetLocality = (place: string) => {
      const kept = localities.get(place);
      if (kept === undefined) return;
      localities.delete(place);
      localitiesWeight -= weightOf(kept);
    };
    for (const locality of load.localities) {
      const place = localityKey(locality.locality, locality.priority);
      forgetLocality(place);
      localities.set(place, { ...locality, intervalMs, receivedAt: now });
      localitiesWeight += weightOf(locality);
    }
    for (const place of localities.keys()) {
      if (localities.size <= localitiesPerCluster) break;
      forgetLocality(place);
    }
    let own = 500 + 4 * (cluster.length + service.length);
    for (const { category } of droppedByCategory) own += 100 + 2 * category.length;
    const { id, cluster: nodeCluster, locality } = node;
    const kept: Kept = {
      report: {
        node: { id, cluster: nodeCluster, locality },
        group,
        cluster,
        service,
        intervalMs,
        receivedAt: now,
        dropped,
        droppedByCategory,
      },
      localities,
      localitiesWeight,
      weight: own + localitiesWeight,
    };
    if (known !== undefined) forgetCluster(entry, key, known);
    entry.clusters.set(key, kept);
    weight += kept.weight;
  }

  return {
    began(id) {
      const count = (streams.get(id) ?? 0) + 1;
      streams.set(id, count);
      leaving.delete(id);
      const entry = entries.get(id);
      if (entry === undefined) return;
      entry.streams = count;
      entry.endedAt = undefined;
    },
    ended(id, now) {
      const count = (streams.get(id) ?? 1) - 1;
      if (count === 0) streams.delete(id);
      else streams.set(id, count);
      const entry = entries.get(id);
      if (entry === undefined) return;
      entry.streams = count;
      if (count > 0) return;
      entry.endedAt = now;
      leaving.add(id);
    },
    record(reporter, clusters, now, continues = false) {
      const { id } = reporter.node;
      const known = entries.has(id);
      if (!known && clusters.every(isIdle)) return;
      const entry = entryOf(id);
      // Two reports within a millisecond are two nevertheless.
      const at = continues && entry.lastReport > 0 ? entry.lastReport : Math.max(now, entry.lastReport + 1);
      entry.lastReport = at;
      for (const load of clusters) merge(entry, reporter, load, at);
      makeRoom();
    },
    sweep(endedBefore) {
      for (const id of leaving) {
        const entry = entries.get(id);
        if (entry?.endedAt !== undefined && entry.endedAt <= endedBefore) forget(id, entry);
      }
    },
    reports({ node, cluster } = {}) {
      const found: LoadReport[] = [];
      const one = node === undefined ? undefined : entries.get(node);
      for (const entry of node === undefined ? entries.values() : one === undefined ? [] : [one]) {
        for (const { report, localities } of entry.clusters.values()) {
          if (cluster !== undefined && report.cluster !== cluster) continue;
          found.push({ ...report, localities: [...localities.values()] });
        }
      }
      return found;
    },
    *current() {
      for (const { streams, lastReport, clusters } of entries.values()) {
        if (streams === 0) continue;
        for (const { report, localities } of clusters.values()) {
          for (const locality of localities.values()) {
            if (locality.receivedAt === lastReport) yield { cluster: report.cluster, locality };
          }
        }
      }
    },
    get nodes() {
      return entries.size;
    },
    get leaving() {
      return leaving.size;
    },
    get weight() {
      return weight;
    },
  };
}

/** Envoy reports each of its clusters, most of which see no traffic: those cost nothing until they do. */
function isIdle({ dropped, droppedByCategory, localities }: ClusterLoad): boolean {
  return dropped === 0 && droppedByCategory.length === 0 && localities.length === 0;
}
