import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { perObject } from "@xdskit/api";
import { changeBetween, type ResourceSet } from "@xdskit/protocol";
import { getOrInsert } from "../basics/maps.js";
import type { LoadReportSettings } from "../settings/load-report-settings.js";

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

function write({ intervalMs, endpoints }: LoadReportSettings, clusters: "all" | readonly string[]): Uint8Array {
  const writer = new BinaryWriter();
  if (clusters !== "all") for (const name of clusters) writer.tag(1, WireType.LengthDelimited).string(name);
  const seconds = Math.floor(intervalMs / 1_000);
  writer.tag(2, WireType.LengthDelimited).fork();
  if (seconds > 0) writer.tag(1, WireType.Varint).int64(seconds);
  if (intervalMs % 1_000 > 0) writer.tag(2, WireType.Varint).int32(Math.round((intervalMs % 1_000) * 1e6));
  writer.join();
  if (endpoints) writer.tag(3, WireType.Varint).bool(true);
  if (clusters === "all") writer.tag(4, WireType.Varint).bool(true);
  return writer.finish();
}
