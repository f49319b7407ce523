import type { Registry, ResourceTypes } from "@xdskit/api";
import type { CallInfo } from "../events.js";
import { type LoadReports, loadReportingServices } from "../load-reports/load-reports.js";
import type { Refusal, Service } from "../transport.js";
import { discoveryMethods } from "../transports/grpc/methods.js";
import { createHealth } from "./health.js";
import { healthDiscovery } from "./health-discovery.js";
import { createServiceCalls } from "./service-calls.js";

/** All that a server serves beside discovery. */
export interface Services {
  readonly all: readonly Service[];
  /** Their calls under way. */
  readonly open: number;
  /** Something happened by which the server may serve now, or may not any more. */
  update(): void;
  /** Ends all calls with OK, because the server closes. */
  stop(): void;
}

export function createServices(options: {
  readonly types: ResourceTypes;
  readonly registry: Registry | undefined;
  readonly loadReports: LoadReports;
  readonly isServing: () => boolean;
  callInfo(service: string, peer: string): CallInfo;
  /** Says why no call is let in, if so. */
  admit(): Refusal | undefined;
  /** Notes down that a call was refused. */
  refused(call: CallInfo, refusal: Refusal): void;
}): Services {
  const { types, loadReports, isServing, callInfo, admit, refused } = options;
  const calls = createServiceCalls({
    admit,
    refused: (service, { peer }, refusal) => refused(callInfo(service, peer), refusal),
  });
  const loadReporting = (["v3", "v2"] as const).map((api): Service => {
    const name = loadReportingServices[api];
    return { name, methods: { StreamLoadStats: loadReports.method(api, (peer) => callInfo(name, peer)) } };
  });
  const served = [...discoveryMethods(types).keys(), ...Object.values(loadReportingServices)];
  const health = createHealth({ isServing, services: () => served });
  served.push(health.service.name);
  const all = [...loadReporting, ...healthDiscovery, health.service].map(calls.serve);
  return {
    all,
    get open() {
      return calls.open;
    },
    update: health.update,
    stop: calls.stop,
  };
}
