import type { ApiVersion } from "@xdskit/api";
import { createFairQueue } from "@xdskit/grpc-server";
import type { ClusterLoad, StatusCode } from "@xdskit/protocol";
import type { LoadReport, LoadReportFilter } from "../../contracts/nodes/load-report.js";
import type { LoadTotals } from "../../contracts/nodes/load-totals.js";
import type { CallInfo, LoadStreamInfo } from "../../contracts/nodes/stream-info.js";
import type { ServiceMethod } from "../../contracts/transport.js";
import { LoadReportStore } from "./load-report-store.js";
import { LoadSession, type LoadSessionContext } from "./load-session.js";
import { createLoadCounters } from "./load-totals.js";
import { ReportQueue } from "./report-queue.js";

/**
 * The time for which the reports of a node are kept after its last stream ended: a client that comes back soon keeps
 * its reports.
 */
const keptMs = 60_000;

/** The names of the service. */
export const loadReportingServices: { readonly [V in ApiVersion]: string } = {
  v2: "envoy.service.load_stats.v2.LoadReportingService",
  v3: "envoy.service.load_stats.v3.LoadReportingService",
};

/** Load reporting (LRS): the service and the reports of clients. */
export interface LoadReports {
  /** The only method of the service, in one version of the API. */
  method(api: ApiVersion, callInfo: (peer: string) => CallInfo): ServiceMethod;
  /** Groups have changed. */
  regrouped(): void;
  reports(filter?: LoadReportFilter): readonly LoadReport[];
  totals(): LoadTotals;
  close(): void;
}

export function createLoadReports(
  options: Omit<LoadSessionContext, "queue" | "refused" | "began" | "ended" | "reported"> & {
    readonly refused: (code: StatusCode) => void;
  },
): LoadReports {
  const store = new LoadReportStore(options.limits);
  const counters = createLoadCounters();
  const streams = { v2: { open: 0, reports: 0 }, v3: { open: 0, reports: 0 } };
  const queue = new ReportQueue<ClusterLoad>(options.limits);
  const open = new Map<LoadStreamInfo, LoadSession>();
  let timer: NodeJS.Timeout | undefined;

  /** One timer for all nodes: the first that leaves sets it, and it goes on while a node waits to be forgotten. */
  function sweepLater(): void {
    if (timer !== undefined || store.leaving === 0) return;
    timer = setTimeout(() => {
      timer = undefined;
      store.sweep(Date.now() - keptMs);
      sweepLater();
    }, keptMs / 4).unref();
  }

  const context: LoadSessionContext = {
    ...options,
    queue: createFairQueue((session) => session.work()),
    began(stream, session) {
      const { api, node } = stream;
      streams[api].open += 1;
      open.set(stream, session);
      store.began(node.id);
    },
    ended(stream) {
      if (!open.delete(stream)) return;
      const { api, node } = stream;
      streams[api].open -= 1;
      store.ended(node.id, Date.now());
      sweepLater();
    },
    reported(stream, clusters, known) {
      const { api, node, group } = stream;
      streams[api].reports += 1;
      let continues = false;
      return queue.add(stream, clusters, (part) => {
        // A report of a node that left would never be forgotten.
        if (!open.has(stream)) return;
        store.record({ node, group }, part, Date.now(), continues);
        counters.add(part, known);
        continues = true;
      });
    },
  };

  return {
    method: (api, callInfo) => ({
      unary: false,
      accept: (call, caller) => new LoadSession(context, call, caller, callInfo(call.peer), api),
    }),
    regrouped() {
      for (const session of [...open.values()]) session.regrouped();
    },
    reports: (filter) => store.reports(filter),
    totals: () => ({
      streams: (["v2", "v3"] as const).map((api) => ({ api, ...streams[api] })),
      nodes: store.nodes,
      localities: counters.localities(store.current()),
      drops: counters.drops,
    }),
    close() {
      clearTimeout(timer);
      queue.close();
    },
  };
}
