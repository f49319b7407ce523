import type { Metrics, MetricsInput } from "./metrics.js";

/**
 * The metrics, loaded at the first scrape: a server without scrapes does not need them, and every server starts sooner.
 */
export function lazyMetrics(input: MetricsInput): Metrics {
  let metrics: Promise<Metrics> | undefined;
  return {
    async read() {
      metrics ??= import("./metrics.js").then(({ createMetrics }) => createMetrics(input));
      return (await metrics).read();
    },
  };
}
