import { authorityOf, getOrInsert, type ResourceType, typeUrlPrefix } from "@xdskit/api";
import type { ClientTypeStatus } from "@xdskit/protocol";
import type { XdsClient } from "../contract/xds-client.js";
import type { ClientMetricsOptions } from "../options/client-metrics-options.js";
import { checkClientCall, checkClients } from "../options/option-tables.js";
import { createServerCounts } from "./server-counts.js";

/** One metric and its present value. Names and labels are those of gRPC's A78. */
export interface ClientMetric {
  readonly name: string;
  readonly kind: "gauge" | "counter";
  /** As OpenTelemetry writes it: `{resource}`. */
  readonly unit: string;
  readonly help: string;
  readonly labelNames: readonly string[];
  readonly values: readonly { readonly labels: Readonly<Record<string, string>>; readonly value: number }[];
}

/** Counts the events of a client. */
export interface ClientMetrics {
  /** The metrics now. Costs the names that the client asks for. */
  read(): readonly ClientMetric[];
  /** Stops counting. */
  stop(): void;
}

type MetricValues = ClientMetric["values"];

/**
 * Counts the events of a client from now on, without a metrics library. Pass `read` to the exporter of the metrics: a
 * callback of OpenTelemetry's gauges, or `prometheusText`. Throws an XdskitError (XDSKIT_CLIENT_OPTION) that names an
 * argument that is wrong.
 *
 * @example
 * ```ts
 * import { createClient, createClientMetrics } from "@xdskit/client";
 *
 * const client = createClient({ servers: ["127.0.0.1:18000"], node: { id: "shop-1" } });
 * const metrics = createClientMetrics(client);
 * for (const { name, values } of metrics.read()) console.log(name, values.length);
 * ```
 */
export function createClientMetrics(client: XdsClient, options: ClientMetricsOptions = {}): ClientMetrics {
  checkClients("createClientMetrics", [client]);
  checkClientCall("createClientMetrics", options);
  const { target = "#client" } = options;
  const counts = createServerCounts();
  const stop = client.on(counts.count);
  const metric = (name: string, kind: ClientMetric["kind"], unit: string, labels: readonly string[], help: string) => {
    const labelNames = ["grpc.target", ...labels];
    return (values: MetricValues): ClientMetric => {
      const targeted = values.map(({ labels: own, value }) => ({ labels: { "grpc.target": target, ...own }, value }));
      return { name: `grpc.xds_client.${name}`, kind, unit, help, labelNames, values: targeted };
    };
  };
  const server = "grpc.xds.server";
  const type = "grpc.xds.resource_type";
  const connected = metric("connected", "gauge", "{bool}", [server], "1 while the server can be reached and answers");
  const failures = metric(
    "server_failure",
    "counter",
    "{failure}",
    [server],
    "How often a server went from healthy to unhealthy: it could not be reached, or ended a stream without an answer",
  );
  const valid = metric(
    "resource_updates_valid",
    "counter",
    "{resource}",
    [server, type],
    "Resources received that were good, also those that came again as they were",
  );
  const invalid = metric(
    "resource_updates_invalid",
    "counter",
    "{resource}",
    [server, type],
    "Resources received that were rejected",
  );
  const resources = metric(
    "resources",
    "gauge",
    "{resource}",
    ["grpc.xds.authority", "grpc.xds.cache_state", type],
    "Resources that are asked for or there, by what is known of them",
  );

  return {
    read() {
      const { servers, updates } = counts;
      const by = (name: "good" | "bad") =>
        updates().map(({ server: at, type: of, [name]: value }) => ({
          labels: { [server]: at, [type]: nameOf(of) },
          value,
        }));
      const status = client.status();
      const isUsed = (name: string) => status.some((each) => each.server === name && (each.active || each.connected));
      return [
        // There is nothing to report of a server that the client has left.
        connected(
          [...servers]
            .filter(([name, { healthy }]) => !healthy || isUsed(name))
            .map(([name, { healthy }]) => ({ labels: { [server]: name }, value: healthy ? 1 : 0 })),
        ),
        failures(Array.from(servers, ([name, each]) => ({ labels: { [server]: name }, value: each.failures }))),
        valid(by("good")),
        invalid(by("bad")),
        resources(status.filter(({ active }) => active).flatMap(({ types }) => types.flatMap(countStates))),
      ];
    },
    stop,
  };
}

const nameOf = (type: ResourceType) => type.typeUrl.slice(typeUrlPrefix.length);

/** The number of resources by state and authority. */
function countStates(status: ClientTypeStatus): MetricValues {
  const counted = new Map<string, { readonly labels: Readonly<Record<string, string>>; value: number }>();
  const add = (name: string, state: string) => {
    const authority = authorityOf(name) ?? "#old";
    const key = `${state} ${authority}`;
    const labels = {
      "grpc.xds.authority": authority,
      "grpc.xds.cache_state": state,
      "grpc.xds.resource_type": nameOf(status.type),
    };
    const count = getOrInsert(counted, key, () => ({ labels, value: 0 }));
    count.value += 1;
  };
  for (const { name } of status.resources.values()) {
    add(name, status.states(name) === "rejected" ? "nacked_but_cached" : "acked");
  }
  for (const name of status.names) {
    const state = status.states(name);
    // The resources were counted already, including those that were requested by an alias.
    if (state === "requested") add(name, "requested");
    else if (state === "absent") add(name, "does_not_exist");
    else if (state === "rejected" && status.updatedAt(name) === undefined) add(name, "nacked");
  }
  return [...counted.values()];
}
