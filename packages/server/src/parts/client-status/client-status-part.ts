import { createRedactedBody } from "@xdskit/api";
import type { Kernel } from "../../contracts/parts/kernel.js";
import type { PluggedPart } from "../../contracts/parts/part.js";
import { momentOf } from "../node-status/moment.js";
import { createClientStatus } from "./client-status.js";
import { clientStatusServiceName } from "./service-name.js";
import type { StatusSource } from "./status-answer.js";
import { statusPage } from "./status-pages.js";

const off = "client status (CSDS, csds in the settings) is turned off";

/** What each client has, for others: client status discovery (CSDS). */
export function clientStatusPart({ options, limits, streams, clock, calls, troubles }: Kernel): PluggedPart {
  const isServed = options.clientStatus !== false;
  const clients: StatusSource = {
    streams,
    troubles,
    maxBytes: limits.clientStatusBytes,
    now: () => momentOf(clock),
    redacted: createRedactedBody(options.registry),
  };
  const service = createClientStatus({
    ...clients,
    revisions: options.nodeRevisions,
    peers: options.statusPeers ?? (() => []),
    reads: options.readsClientStatus,
    fault: ({ peer }, error) => calls.fault(calls.info(clientStatusServiceName, peer), error),
  });
  // The messages of v2 have no field for most types.
  const ofV2 = { ...service, name: "envoy.service.status.v2.ClientStatusDiscoveryService" };
  return {
    services: [
      { services: [service], off: isServed ? undefined : `${off} on this server` },
      { services: [ofV2], off: `xdskit serves client status (CSDS) of v3 only: call ${clientStatusServiceName}` },
    ],
    answers: {
      async clientStatusPage(asked) {
        if (!isServed) throw new Error(`${off} there`);
        return await statusPage(clients, asked);
      },
    },
  };
}
