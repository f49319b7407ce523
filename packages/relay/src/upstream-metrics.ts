import { type ClientMetric, createClientMetrics, prometheusText } from "@xdskit/client";
import type { GroupRelay } from "./groups/group-relay.js";

/** The metrics of all groups' clients in Prometheus' text format; the label `grpc_target` is the group. */
export function createUpstreamMetrics(groups: readonly GroupRelay[]): () => string {
  const clients = groups.map(({ group, client }) => createClientMetrics(client, { target: group }));
  return () => {
    // A metric appears once in the text, with all its values.
    const all = new Map<string, ClientMetric>();
    for (const metric of clients.flatMap((client) => client.read())) {
      const known = all.get(metric.name);
      all.set(metric.name, known === undefined ? metric : { ...known, values: [...known.values, ...metric.values] });
    }
    return prometheusText([...all.values()]);
  };
}
