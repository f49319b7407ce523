import { type ApiVersion, getOrInsert, type ResourceTypes } from "@xdskit/api";
import type { Method } from "../contracts/transport.js";

/** The aggregated service, which belongs to no type. */
const aggregated: { readonly [V in ApiVersion]: string } = {
  v2: "envoy.service.discovery.v2.AggregatedDiscoveryService",
  v3: "envoy.service.discovery.v3.AggregatedDiscoveryService",
};

const apis: readonly ApiVersion[] = ["v2", "v3"];

/** Every discovery method by service and name: ADS, and those of the table of types. */
export function discoveryMethods(types: ResourceTypes): ReadonlyMap<string, ReadonlyMap<string, Method>> {
  const services = new Map<string, Map<string, Method>>();
  const add = (service: string, name: string | undefined, method: Method) => {
    if (name === undefined) return;
    getOrInsert(services, service, () => new Map()).set(name, method);
  };
  for (const api of apis) {
    add(aggregated[api], "StreamAggregatedResources", { variant: "sotw", api, only: undefined, unary: false });
    add(aggregated[api], "DeltaAggregatedResources", { variant: "delta", api, only: undefined, unary: false });
    for (const type of types.all) {
      const service = type.services[api];
      if (service === undefined) continue;
      add(service.service, service.stream, { variant: "sotw", api, only: type, unary: false });
      add(service.service, service.delta, { variant: "delta", api, only: type, unary: false });
      add(service.service, service.fetch, { variant: "sotw", api, only: type, unary: true });
    }
  }
  return services;
}
