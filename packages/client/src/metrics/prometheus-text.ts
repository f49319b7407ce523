import type { ClientMetric } from "./client-metrics.js";

/**
 * Metrics in Prometheus' text format (0.0.4). Dots of names and labels become underscores, counters end in `_total`.
 */
export function prometheusText(metrics: readonly ClientMetric[]): string {
  return metrics.map(metricText).join("");
}

function metricText({ name, kind, help, values }: ClientMetric): string {
  const full = `${underscored(name)}${kind === "counter" ? "_total" : ""}`;
  const lines = values.map(({ labels, value }) => {
    const pairs = Object.entries(labels).map(([label, text]) => `${underscored(label)}="${escaped(text)}"`);
    return `${full}{${pairs.join(",")}} ${value}\n`;
  });
  return `# HELP ${full} ${help}\n# TYPE ${full} ${kind}\n${lines.join("")}`;
}

const underscored = (name: string) => name.replaceAll(/[^a-zA-Z0-9_]/g, "_");
const escaped = (text: string) => text.replaceAll(/[\\"]/g, "\\$&").replaceAll("\n", "\\n");
