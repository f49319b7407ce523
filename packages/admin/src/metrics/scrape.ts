import type { HistogramStats, LoadTotals, ServerStats, XdsServer } from "@xdskit/server";
import { Counter, collectDefaultMetrics, Gauge, Registry } from "prom-client";

/** The values of the labels, and the number. */
export type Row = readonly [...labels: string[], value: number];

/** The values of the labels, and what is counted. */
export type HistogramRow = readonly [...labels: string[], stats: HistogramStats];

type Metric = readonly [name: string, help: string, labels: readonly string[], read: () => readonly Row[]];

/** A metric, as docs/metrics.md lists it. */
export interface DescribedMetric {
  readonly name: string;
  readonly kind: "counter" | "gauge" | "histogram";
  readonly help: string;
  readonly labelNames: readonly string[];
}

/** Metrics in Prometheus' text format. */
export interface MetricsText {
  readonly contentType: string;
  readonly text: string;
}

type Scraped = Pick<XdsServer, "stats" | "loadTotals">;

/** The registry, and the numbers of one scrape: all of them are of the same moment. */
export class Scrape {
  readonly #server: Scraped;
  readonly #registry = new Registry();
  /** Those that were added. */
  readonly metrics: DescribedMetric[] = [];
  stats: ServerStats;
  loads: LoadTotals;

  constructor(server: Scraped) {
    this.#server = server;
    this.stats = server.stats();
    this.loads = server.loadTotals();
    collectDefaultMetrics({ register: this.#registry });
    countCpuSoFar(this.#registry);
  }

  counter(...metric: Metric): void {
    this.#add("counter", ...metric);
  }

  gauge(...metric: Metric): void {
    this.#add("gauge", ...metric);
  }

  /** The numbers are those of the rows, and no others. */
  #add(kind: "counter" | "gauge", ...[name, help, labelNames, read]: Metric): void {
    this.metrics.push({ name, kind, help, labelNames });
    const Kind = kind === "counter" ? Counter : Gauge;
    const collect = () => {
      metric.reset();
      for (const row of read()) {
        const labels = labelNames.map((label, index) => [label, row[index]]);
        metric.inc(Object.fromEntries(labels), row.at(-1) as number);
      }
    };
    const metric = new Kind({ name, help, labelNames, registers: [this.#registry], collect });
  }

  /**
   * The library counts in histograms of its own; these were counted elsewhere. `unit`: what the values are divided by,
   * such as 1,000 for milliseconds that are told as seconds.
   */
  histogram(
    name: string,
    help: string,
    labelNames: readonly string[],
    unit: number,
    read: () => readonly HistogramRow[],
  ): void {
    this.metrics.push({ name, kind: "histogram", help, labelNames });
    const get = async () => {
      const values = read().flatMap((row) => {
        const labels = Object.fromEntries(labelNames.map((label, index) => [label, row[index] as string]));
        return samplesOf(name, labels, row.at(-1) as HistogramStats, unit);
      });
      return { name, help, type: "histogram", values };
    };
    this.#registry.registerMetric({ name, get } as unknown as Counter);
  }

  async read(): Promise<MetricsText> {
    this.stats = this.#server.stats();
    this.loads = this.#server.loadTotals();
    return { contentType: this.#registry.contentType, text: measuredOnly(await this.#registry.metrics()) };
  }
}

/** The lines of one histogram: buckets count what the ones before count, too. */
function samplesOf(
  name: string,
  labels: Readonly<Record<string, string>>,
  { bounds, counts, sum }: HistogramStats,
  unit: number,
): readonly { readonly metricName: string; readonly labels: object; readonly value: number }[] {
  let below = 0;
  const buckets = counts.map((count, index) => {
    below += count;
    const bound = bounds[index];
    const le = bound === undefined ? "+Inf" : String(bound / unit);
    return { metricName: `${name}_bucket`, labels: { ...labels, le }, value: below };
  });
  return [
    ...buckets,
    { metricName: `${name}_sum`, labels, value: sum / unit },
    { metricName: `${name}_count`, labels, value: below },
  ];
}

/** The library counts from the moment when it is loaded, which is the first scrape. */
function countCpuSoFar(registry: Registry): void {
  const { user, system } = process.cpuUsage();
  for (const [name, microseconds] of [
    ["process_cpu_user_seconds_total", user],
    ["process_cpu_system_seconds_total", system],
    ["process_cpu_seconds_total", user + system],
  ] as const) {
    const metric = registry.getSingleMetric(name);
    if (metric instanceof Counter) metric.inc(microseconds / 1e6);
  }
}

/**
 * The library measures the lag of the event loop from one scrape to the next. Without a measurement, as at the first
 * scrape, it reports NaN and the largest number. Such values are left out.
 */
function measuredOnly(text: string): string {
  const [, least] = /^nodejs_eventloop_lag_min_seconds (.*)$/m.exec(text) ?? [];
  return Number(least) < longestLag ? text : text.replace(/^nodejs_eventloop_lag_\w+_seconds .*\n/gm, "");
}

/** In seconds: a real lag is never this long. */
const longestLag = 1e6;
