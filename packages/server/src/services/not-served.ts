import { statusCode } from "@xdskit/protocol";
import type { Refusal, Service, ServiceMethod } from "../contracts/transport.js";

/** A service that is not served: a caller is told why, instead of only that the method is unknown. */
export function notServed(
  name: string,
  methods: Readonly<Record<string, Pick<ServiceMethod, "unary">>>,
  message: string,
): Service {
  const refusal: Refusal = { code: statusCode.unimplemented, message };
  const refused = Object.entries(methods).map(([key, { unary }]) => [key, { unary, accept: () => refusal }] as const);
  return { name, methods: Object.fromEntries(refused) };
}

/** Services that are never served. */
export const neverServed: readonly Service[] = [
  ...[
    "envoy.service.health.v3.HealthDiscoveryService",
    // v2 had it beside ADS.
    "envoy.service.discovery.v2.HealthDiscoveryService",
  ].map((name) =>
    notServed(
      name,
      { StreamHealthCheck: { unary: false }, FetchHealthCheck: { unary: true } },
      "xdskit does not serve health discovery (HDS): remove hds_config from the bootstrap",
    ),
  ),
];
