import type { Metrics, MetricsInput } from "./metrics.js";

/** The metrics, loaded with the first scrape: a server that nobody scrapes does without them, and any other starts sooner. */
export function lazyMetrics(input: MetricsInput): Metrics {
  let metrics: Promise<Metrics> | undefined;
  return {
    async read() {
      metrics ??= import("./metrics.js").then(({ createMetrics }) => createMetrics(input));
      return (await metrics).read();
    },
  };
}
