import { create, toBinary } from "@bufbuild/protobuf";
import { durationFromMs } from "@bufbuild/protobuf/wkt";
import { envoySchema, getOrInsert, perObject } from "@xdskit/api";
import type { LoadStatsResponseSchema } from "@xdskit/api/envoy/service/load_stats/v3/lrs";
import { changeBetween, type ResourceSet } from "@xdskit/protocol";
import type { LoadReportSettings } from "../../settings/load-report-settings.js";

/** The clusters that a client must report: all of its own, or these. */
export type WantedClusters = "all" | readonly string[] | ResourceSet;

/** Responses that name the clusters of a set are large, and equal for all clients with the same settings. */
const responsesOf = perObject((_: ResourceSet) => new Map<string, Uint8Array>());

/** Writes `envoy.service.load_stats.v3.LoadStatsResponse`; v2's has the same numbers. */
export function loadResponse(settings: LoadReportSettings, wanted: WantedClusters): Uint8Array {
  if (wanted === "all" || !isSet(wanted)) return write(settings, wanted);
  const key = `${settings.intervalMs} ${settings.endpoints}`;
  return getOrInsert(responsesOf(wanted), key, () =>
    write(
      settings,
      Array.from(wanted, ({ name }) => name),
    ),
  );
}

/** Whether two sets have the same names; costs the differences between them, once for all clients. */
export function sameNames(before: ResourceSet, after: ResourceSet): boolean {
  const { removed, upserted } = changeBetween(before, after);
  return removed.length === 0 && upserted.every(({ name }) => before.get(name) !== undefined);
}

function isSet(wanted: readonly string[] | ResourceSet): wanted is ResourceSet {
  return "version" in wanted;
}

function write(settings: LoadReportSettings, clusters: "all" | readonly string[]): Uint8Array {
  const schema = envoySchema<typeof LoadStatsResponseSchema>("envoy.service.load_stats.v3.LoadStatsResponse");
  const response = create(schema, {
    clusters: clusters === "all" ? [] : [...clusters],
    sendAllClusters: clusters === "all",
    loadReportingInterval: durationFromMs(Math.round(settings.intervalMs)),
    reportEndpointGranularity: settings.endpoints,
  });
  return toBinary(schema, response);
}
