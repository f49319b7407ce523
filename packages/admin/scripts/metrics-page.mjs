// Writes docs/metrics.md from the metrics of a server and of a client: npm run docs -w @xdskit/admin
import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { createClient, createClientMetrics } from "@xdskit/client";
import { createServer } from "@xdskit/server";
import { createMetrics } from "../src/metrics/metrics.ts";

/** Where the page is. */
export const metricsPageFile = new URL("../../../docs/metrics.md", import.meta.url);

/** The page as it should be. */
export async function metricsPage() {
  const server = createServer();
  const input = { version: "", name: "", server, readiness: () => "ready", sources: () => [] };
  const ofServer = createMetrics(input).metrics;
  await server.close();
  const client = createClient({ servers: ["127.0.0.1:1"], node: { id: "page" } });
  const ofClient = createClientMetrics(client).read();
  await client.close();
  return `<!-- Made by \`npm run docs -w @xdskit/admin\` from the metrics: change their help there. -->

# Metrics

\`/metrics\` of the admin listener has these, in Prometheus' text format, beside those that every Node program with
prom-client has. [\`deploy/\`](../deploy/README.md) has a dashboard for Grafana and alert rules, which say what to do.

\`type\` is a word that commands take ([types](types.md)), \`variant\` is \`sotw\` or \`delta\`, \`api\` is \`v3\` or \`v2\`,
\`service\` is \`ads\` or the type of a per-type service. Beyond a hundred groups, 2,000 clusters, 200 localities of a
cluster or 50 categories, the rest is \`(other)\`. Without a store (\`--state off\`) its metrics have no values.

${tableOf(ofServer)}
## How long changes take

\`xdskit_publish_to_ack_seconds\` counts from when the oldest change in a response was published: with the wait for other
types, for the client to read, and for its answer. What a client asked for itself, the time before its stream was opened,
and the time in which a [rollout](rollouts.md) or a quarantine held the node back do not count.

\`\`\`
histogram_quantile(0.99, sum by (le, type) (rate(xdskit_publish_to_ack_seconds_bucket[5m])))
\`\`\`

\`xdskit_event_to_publish_seconds\` is the way before it, of a [Kubernetes](kubernetes.md) cluster: from when the server read
the event about the first object that a publication brings. What was there at the start, and events that change nothing for
clients, do not count. Both together are the way from an EndpointSlice to the client.

## Of a client

A program with \`@xdskit/client\`, and a [relay](relay.md) with its group as \`grpc.target\`, has the metrics of gRPC's
[A78](https://github.com/grpc/proposal/blob/master/A78-grpc-metrics-wrr-pf-xds.md). \`prometheusText\` writes underscores
instead of dots, and adds \`_total\` to counters:

\`\`\`ts
import { createClient, createClientMetrics, prometheusText } from "@xdskit/client";

const client = createClient({ servers: ["127.0.0.1:18000"], node: { id: "shop-1" } });
const metrics = createClientMetrics(client, { target: "shop" });
console.log(prometheusText(metrics.read()));
\`\`\`

${tableOf(ofClient)}`;
}

function tableOf(metrics) {
  const rows = metrics.map(({ name, kind, labelNames, help }) =>
    ["", `\`${name}\``, kind, labelNames.map((label) => `\`${label}\``).join(", "), help, ""].join(" | ").trim(),
  );
  return `| metric | kind | labels | |\n| --- | --- | --- | --- |\n${rows.join("\n")}\n`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(metricsPageFile, await metricsPage());
