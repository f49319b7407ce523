import type { ApiVersion, ResourceType } from "@xdskit/api";
import type { SotwOrDelta } from "@xdskit/protocol";

/** A discovery method. */
export interface DiscoveryMethod {
  readonly variant: SotwOrDelta;
  readonly api: ApiVersion;
  /** Undefined means the aggregated one. */
  readonly only: ResourceType | undefined;
}

const aggregated: { readonly [V in ApiVersion]: string } = {
  v2: "envoy.service.discovery.v2.AggregatedDiscoveryService",
  v3: "envoy.service.discovery.v3.AggregatedDiscoveryService",
};

/**
 * `/service/method`; undefined if the type has no such method (rule 148, VHDS and LEDS over SotW, types that v2 did not
 * have).
 */
export function pathOf({ variant, api, only }: DiscoveryMethod): string | undefined {
  if (only === undefined) {
    return `/${aggregated[api]}/${variant === "sotw" ? "StreamAggregatedResources" : "DeltaAggregatedResources"}`;
  }
  const service = only.services[api];
  const method = variant === "sotw" ? service?.stream : service?.delta;
  return service === undefined || method === undefined ? undefined : `/${service.service}/${method}`;
}
