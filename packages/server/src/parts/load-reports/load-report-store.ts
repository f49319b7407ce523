import type { ClusterLoad, Node } from "@xdskit/protocol";
import { Counts } from "../../basics/counts.js";
import {
  type LoadReport,
  type LoadReportFilter,
  type LocalityReport,
  localityKey,
  weightOf,
} from "../../contracts/nodes/load-report.js";
import type { StoreLimits } from "../../settings/limits.js";

/** A node that reports. */
export interface Reporter {
  readonly node: Node;
  readonly group: string;
}

interface KeptReport {
  readonly report: Omit<LoadReport, "localities">;
  readonly localities: Map<string, LocalityReport>;
  /**
   * The weight of everything, and of the localities alone, so that a report need not be weighed with all others again.
   */
  readonly weight: number;
  readonly localitiesWeight: number;
}

interface NodeEntry {
  /** The one that was reported longest ago is the first. */
  readonly clusters: Map<string, KeptReport>;
  lastReport: number;
}

/** The latest reports of each node, by cluster and locality. It reads no clock: times are milliseconds since 1970. */
export class LoadReportStore {
  readonly #limits: StoreLimits;
  /** The node that reported longest ago is the first. */
  readonly #entries = new Map<string, NodeEntry>();
  /** Open streams of each node, whether or not a report of it is kept. */
  readonly #streams = new Counts<string>();
  /** When the last stream of a node with reports ended. */
  readonly #leaving = new Map<string, number>();
  #weight = 0;

  constructor(limits: StoreLimits) {
    this.#limits = limits;
  }

  /** A stream of the node began, and counts until it `ended`. */
  began(node: string): void {
    this.#streams.add(node, 1);
    this.#leaving.delete(node);
  }

  ended(node: string, now: number): void {
    if (this.#streams.add(node, -1) === 0 && this.#entries.has(node)) this.#leaving.set(node, now);
  }

  /** `continues`: it is the next part of the report that was recorded last. */
  record(reporter: Reporter, clusters: readonly ClusterLoad[], now: number, continues = false): void {
    const { id } = reporter.node;
    const known = this.#entries.get(id);
    if (known === undefined && clusters.every(isIdle)) return;
    const entry = known ?? { clusters: new Map(), lastReport: 0 };
    this.#entries.delete(id);
    this.#entries.set(id, entry);
    // Two reports within a millisecond still count as two.
    if (!continues || entry.lastReport === 0) entry.lastReport = Math.max(now, entry.lastReport + 1);
    for (const load of clusters) this.#put(entry, reporter, load);
    this.#makeRoom();
  }

  /** Forgets the nodes whose last stream ended that long ago. */
  sweep(endedBefore: number): void {
    for (const [id, endedAt] of this.#leaving) if (endedAt <= endedBefore) this.#forget(id);
  }

  reports({ node, cluster }: LoadReportFilter = {}): readonly LoadReport[] {
    const found: LoadReport[] = [];
    const entries = node === undefined ? this.#entries.values() : [this.#entries.get(node)];
    for (const entry of entries) {
      for (const { report, localities } of entry?.clusters.values() ?? []) {
        if (cluster !== undefined && report.cluster !== cluster) continue;
        found.push({ ...report, localities: [...localities.values()] });
      }
    }
    return found;
  }

  /** The localities in the last message of each node that still has a stream: the current load. */
  *current(): Iterable<{ readonly cluster: string; readonly locality: LocalityReport }> {
    for (const [id, { lastReport, clusters }] of this.#entries) {
      if (this.#streams.of(id) === 0) continue;
      for (const { report, localities } of clusters.values()) {
        for (const locality of localities.values()) {
          if (locality.receivedAt === lastReport) yield { cluster: report.cluster, locality };
        }
      }
    }
  }

  /** Nodes with a report that is kept. */
  get nodes(): number {
    return this.#entries.size;
  }

  /** Nodes that wait for `sweep`. */
  get leaving(): number {
    return this.#leaving.size;
  }

  /** The approximate bytes of the kept reports. */
  get weight(): number {
    return this.#weight;
  }

  /** A cluster without traffic is kept only if it had some before. */
  #put(entry: NodeEntry, reporter: Reporter, load: ClusterLoad): void {
    const key = JSON.stringify([load.cluster, load.service]);
    const known = entry.clusters.get(key);
    if (known === undefined && isIdle(load)) return;
    if (known !== undefined) this.#forgetCluster(entry, key, known);
    const kept = merged(known, reporter, load, entry.lastReport);
    entry.clusters.set(key, kept);
    this.#weight += kept.weight;
  }

  #forget(id: string): void {
    for (const kept of this.#entries.get(id)?.clusters.values() ?? []) this.#weight -= kept.weight;
    this.#entries.delete(id);
    this.#leaving.delete(id);
  }

  #forgetCluster(entry: NodeEntry, key: string, kept: KeptReport): void {
    this.#weight -= kept.weight;
    entry.clusters.delete(key);
  }

  /** The newest one is removed last, and in parts, since it alone may be too much. */
  #makeRoom(): void {
    const { reportNodes, reportBytes } = this.#limits;
    for (const id of this.#entries.keys()) {
      if (this.nodes <= reportNodes && (this.#weight <= reportBytes || this.nodes === 1)) break;
      this.#forget(id);
    }
    for (const entry of this.#entries.values()) {
      for (const [key, kept] of entry.clusters) {
        if (this.#weight <= reportBytes) return;
        this.#forgetCluster(entry, key, kept);
      }
    }
  }
}

/** A report of one cluster over the one before: localities that it does not name stay. */
function merged(
  known: KeptReport | undefined,
  { node, group }: Reporter,
  load: ClusterLoad,
  receivedAt: number,
): KeptReport {
  const { localities: reported, ...figures } = load;
  const { id, cluster, locality } = node;
  const localities = known?.localities ?? new Map<string, LocalityReport>();
  let localitiesWeight = known?.localitiesWeight ?? 0;
  for (const each of reported) {
    const place = localityKey(each.locality, each.priority);
    const kept = localities.get(place);
    if (kept !== undefined) localitiesWeight -= weightOf(kept);
    localities.set(place, { ...each, intervalMs: load.intervalMs, receivedAt });
    localitiesWeight += weightOf(each);
  }
  let weight = localitiesWeight + 500 + 4 * (load.cluster.length + load.service.length);
  for (const { category } of load.droppedByCategory) weight += 100 + 2 * category.length;
  const report = { node: { id, cluster, locality }, group, ...figures, receivedAt };
  return { report, localities, localitiesWeight, weight };
}

/** Envoy reports each of its clusters, most of which see no traffic: those cost nothing until they do. */
function isIdle({ dropped, droppedByCategory, localities }: ClusterLoad): boolean {
  return dropped === 0 && droppedByCategory.length === 0 && localities.length === 0;
}
