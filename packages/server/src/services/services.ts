import { createRedactedBody, envoyRegistry, type Registry, type ResourceTypes } from "@xdskit/api";
import { createClientStatus } from "../client-status/client-status.js";
import { clientStatusServiceName } from "../client-status/service-name.js";
import type { StatusSource } from "../client-status/status-answer.js";
import { statusPage } from "../client-status/status-pages.js";
import type { ClientStatusAsked, ClientStatusPage, StatusPeer } from "../contracts/nodes/status-peers.js";
import type { CallInfo } from "../contracts/nodes/stream-info.js";
import type { Refusal, Service } from "../contracts/transport.js";
import { type LoadReports, loadReportingServices } from "../load-reports/load-reports.js";
import { discoveryMethods } from "../transports/discovery-methods.js";
import { createHealth } from "./health.js";
import { neverServed, notServed } from "./not-served.js";
import { createReflection } from "./reflection.js";
import { createServiceCalls } from "./service-calls.js";

/** All services of a server beside discovery. */
export type Services = ReturnType<typeof createServices>;

export function createServices(options: {
  readonly types: ResourceTypes;
  readonly registry: Registry | undefined;
  readonly loadReports: LoadReports;
  /** The services that are served; the others answer UNIMPLEMENTED. */
  readonly serves: { readonly loadReports: boolean; readonly clientStatus: boolean; readonly reflection: boolean };
  readonly clients: Omit<StatusSource, "redacted">;
  readonly statusPeers: () => readonly StatusPeer[];
  readonly isServing: () => boolean;
  callInfo(service: string, peer: string): CallInfo;
  /** Returns why no call is admitted, if so. */
  admit(): Refusal | undefined;
  /** Records that a call was refused. */
  refused(call: CallInfo, refusal: Refusal): void;
  /** Records a fault of the server. */
  fault(call: CallInfo, error: unknown): void;
}) {
  const { types, registry, loadReports, serves, clients, isServing, callInfo, admit, refused, fault } = options;
  const calls = createServiceCalls({
    admit,
    refused: (service, { peer }, refusal) => refused(callInfo(service, peer), refusal),
    fault: (service, { peer }, error) => fault(callInfo(service, peer), error),
  });
  const loadReporting = (["v3", "v2"] as const).map((api): Service => {
    const name = loadReportingServices[api];
    return { name, methods: { StreamLoadStats: loadReports.method(api, (peer) => callInfo(name, peer)) } };
  });
  const ofClients: StatusSource = { ...clients, redacted: createRedactedBody(registry) };
  const clientStatus = createClientStatus({
    ...ofClients,
    peers: options.statusPeers,
    fault: ({ peer }, error) => fault(callInfo(clientStatusServiceName, peer), error),
  });
  const served = [...discoveryMethods(types).keys()];
  let stopped = false;
  const health = createHealth({ isServing: () => !stopped && isServing(), services: () => served });
  const reflection = createReflection({ services: () => served, registry: () => registry ?? envoyRegistry() });
  const all = neverServed.map(calls.serve);
  const add = (isOn: boolean, what: string, services: readonly Service[], serve: (service: Service) => Service) => {
    if (isOn) served.push(...services.map(({ name }) => name));
    const refuse = ({ name, methods }: Service) =>
      calls.serve(notServed(name, methods, `${what} is turned off on this server`));
    all.push(...services.map((service) => (isOn ? serve(service) : refuse(service))));
  };
  add(serves.loadReports, "load reporting (LRS, load_reports in the settings)", loadReporting, calls.serve);
  add(serves.clientStatus, "client status (CSDS, csds in the settings)", [clientStatus], calls.serveNoting);
  add(true, "health checking", [health.service], calls.serveNoting);
  add(serves.reflection, "reflection (reflection in the settings)", reflection, calls.serveNoting);
  return {
    all,
    /** Tells another server of the store about the clients of this one. Rejects with a reason for people. */
    async statusPage(asked: ClientStatusAsked): Promise<ClientStatusPage> {
      if (!serves.clientStatus) throw new Error("client status (CSDS, csds in the settings) is turned off there");
      return await statusPage(ofClients, asked);
    },
    /** Their calls in progress. */
    get open(): number {
      return calls.open;
    },
    /** Call this when the server may have begun to serve, or stopped. */
    update: health.update,
    /** Ends all calls with OK, because the server closes. */
    stop() {
      stopped = true;
      calls.stop();
    },
  };
}
