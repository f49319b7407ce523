import { statusCode } from "@xdskit/protocol";
import type { Refusal, Service, ServiceMethod } from "../contracts/transport.js";

const names = [
  "envoy.service.health.v3.HealthDiscoveryService",
  // v2 had it beside ADS.
  "envoy.service.discovery.v2.HealthDiscoveryService",
];

/** Health discovery (HDS), which is not served: a caller is told so, instead of only that the method is unknown. */
export const healthDiscovery: readonly Service[] = names.map((name) => {
  const refusal: Refusal = {
    code: statusCode.unimplemented,
    message: "xdskit does not serve health discovery (HDS): remove hds_config from the bootstrap",
  };
  const method = (unary: boolean): ServiceMethod => ({ unary, accept: () => refusal });
  return { name, methods: { StreamHealthCheck: method(false), FetchHealthCheck: method(true) } };
});
