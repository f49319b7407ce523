import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { durationFromMs } from "@bufbuild/protobuf/wkt";
import { LoadStatsRequestSchema, LoadStatsResponseSchema } from "@xdskit/api/envoy/service/load_stats/v3/lrs";
import type { Mistake } from "./mistakes.js";
import type { Outlet } from "./session.js";

/** A stream of load reports: it asks for those of all clusters, once, and takes them. Returns what takes requests. */
export function takeLoadReports(outlet: Outlet, mistakes: ReadonlySet<Mistake>): (bytes: Uint8Array) => void {
  let isAsked = false;
  return (bytes) => {
    const { clusterStats } = fromBinary(LoadStatsRequestSchema, bytes);
    if (clusterStats.length > 0 && mistakes.has("lrs-ends")) outlet.end(3, "this was not asked for");
    if (isAsked || mistakes.has("lrs-silent")) return;
    isAsked = true;
    const response = create(LoadStatsResponseSchema, {
      sendAllClusters: !mistakes.has("lrs-names-nothing"),
      ...(mistakes.has("lrs-no-interval") ? {} : { loadReportingInterval: durationFromMs(10_000) }),
    });
    outlet.send(toBinary(LoadStatsResponseSchema, response));
  };
}
