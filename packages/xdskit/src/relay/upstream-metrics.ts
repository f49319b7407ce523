import { type ClientMetric, createClientMetrics, prometheusText } from "@xdskit/client";
import type { GroupRelay } from "./group-relay.js";

/** What the clients of all groups count, as Prometheus' text; a group is the label `grpc_target`. */
export function createUpstreamMetrics(groups: readonly GroupRelay[]): () => string {
  const clients = groups.map(({ group, client }) => createClientMetrics(client, { target: group }));
  return () => {
    // A metric stands in the text once, with the values of all.
    const all = new Map<string, ClientMetric>();
    for (const metric of clients.flatMap((client) => client.read())) {
      const known = all.get(metric.name);
      all.set(metric.name, known === undefined ? metric : { ...known, values: [...known.values, ...metric.values] });
    }
    return prometheusText([...all.values()]);
  };
}
