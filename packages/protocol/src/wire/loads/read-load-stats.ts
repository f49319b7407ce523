import {
  delimited,
  embedded,
  type FieldReader,
  listField,
  type MessageReader,
  messageReader,
  readSecondsAndNanos,
  single,
  textField,
  uint32,
  uint64,
  varintTag,
  type WireReader,
  wireType,
} from "@xdskit/api/wire";
import type { Node } from "../../model/basics/node.js";
import { nodeLength, readLocality, readNode } from "../requests/node-message.js";
import {
  type ClusterLoad,
  type EndpointLoad,
  type LoadMetric,
  type LoadStatsLimits,
  type LoadStatsRequest,
  type LocalityLoad,
  type RequestLoad,
  TooMuchInMessage,
} from "./load-stats.js";

/**
 * Reads `envoy.service.load_stats.v3.LoadStatsRequest`; v2's has the same numbers. Throws `MalformedMessage`, and
 * `TooMuchInMessage` as soon as a limit is exceeded: nothing read before then costs more than the limits allow. Only
 * the first message of a stream needs the node; Envoy puts it into each (60 kB).
 */
export function readLoadStatsRequest(
  bytes: Uint8Array,
  limits: LoadStatsLimits,
  wanted: { readonly node: boolean },
): LoadStatsRequest {
  return readRequest(bytes, { start: 0, end: bytes.length }, new ReportCounts(limits, wanted.node));
}

/** Endpoints, metrics and categories of drops in one report, over all clusters. */
const mostDetails = 200_000;

/** The size of the part of a report that was read so far. */
class ReportCounts {
  readonly limits: LoadStatsLimits;
  readonly wantsNode: boolean;
  readonly #counts = { reportClusters: 0, reportLocalities: 0, reportDetails: 0 };

  constructor(limits: LoadStatsLimits, wantsNode: boolean) {
    this.limits = limits;
    this.wantsNode = wantsNode;
  }

  /** Counts another part before it is read. */
  count(what: keyof typeof messages): void {
    this.#counts[what] += 1;
    const most = what === "reportDetails" ? mostDetails : this.limits[what];
    if (this.#counts[what] > most) throw new TooMuchInMessage(messages[what](most));
  }
}

const messages = {
  reportClusters: (most: number) => `a report is about more than ${most} clusters`,
  reportLocalities: (most: number) => `a report is about more than ${most} localities`,
  reportDetails: (most: number) => `a report holds more than ${most} endpoints, metrics and categories of drops`,
};

/** A repeated message, each of which is counted. */
function counted<Content>(
  field: number,
  what: keyof typeof messages,
  read: MessageReader<Content, ReportCounts>,
): FieldReader<readonly Content[], ReportCounts> {
  return listField(delimited(field), (reader, counts: ReportCounts) => {
    counts.count(what);
    return read(reader.bytes, reader.span(), counts);
  });
}

const readMetric = messageReader<LoadMetric>({ name: textField(1), requests: uint64(2), total: double(3) });
const readUnnamedMetric = messageReader({ requests: uint64(1), total: double(2) });

/** The metrics of a locality that have their own fields, by their tags. */
const ownMetrics = new Map([
  [delimited(12), "cpu_utilization"],
  [delimited(13), "mem_utilization"],
  [delimited(14), "application_utilization"],
]);

function metricOf(reader: WireReader, counts: ReportCounts, tag: number): LoadMetric {
  counts.count("reportDetails");
  const name = ownMetrics.get(tag);
  const span = reader.span();
  if (name === undefined) return readMetric(reader.bytes, span);
  return { name, ...readUnnamedMetric(reader.bytes, span) };
}

/** The fields that localities and endpoints have under the same number. */
const outcome = { successful: uint64(2), inProgress: uint64(3), errors: uint64(4) } satisfies Partial<
  Record<keyof RequestLoad, FieldReader<number>>
>;

const readSocketAddress = messageReader({
  host: textField(2),
  port: single([varintTag(3), delimited(4)], "", (reader, _, tag) =>
    tag === delimited(4) ? reader.string() : String(reader.varint()),
  ),
});
const readFirstText = messageReader({ text: textField(1) });

/** `envoy.config.core.v3.Address` as text; a pipe has its path where an internal address has its listener's name. */
const readAddress = messageReader({
  address: single([1, 2, 3].map(delimited), "", (reader, _, tag) => {
    const span = reader.span();
    if (tag !== delimited(1)) return readFirstText(reader.bytes, span).text;
    const { host, port } = readSocketAddress(reader.bytes, span);
    return `${host.includes(":") ? `[${host}]` : host}:${port}`;
  }),
});

const readEndpoint = messageReader<EndpointLoad, ReportCounts>({
  address: single(delimited(1), "", (reader) => readAddress(reader.bytes, reader.span()).address),
  ...outcome,
  issued: uint64(7),
  metrics: listField(delimited(5), metricOf),
});

const readLocalityLoad = messageReader<LocalityLoad, ReportCounts>({
  locality: embedded(1, { region: "", zone: "", subZone: "" }, (bytes, span) => readLocality(bytes, span, "locality")),
  ...outcome,
  issued: uint64(8),
  priority: uint32(6),
  metrics: listField([delimited(5), ...ownMetrics.keys()], metricOf),
  endpoints: counted(7, "reportDetails", readEndpoint),
});

const readDrop = messageReader({ category: textField(1), count: uint64(2) });

const readCluster = messageReader<ClusterLoad, ReportCounts>({
  cluster: textField(1),
  service: textField(6),
  intervalMs: single(delimited(4), 0, millisecondsOf),
  dropped: uint64(3),
  droppedByCategory: counted(5, "reportDetails", readDrop),
  localities: counted(2, "reportLocalities", readLocalityLoad),
});

const readRequest = messageReader<LoadStatsRequest, ReportCounts>({
  node: single(delimited(1), undefined, wantedNode),
  clusters: counted(2, "reportClusters", readCluster),
});

function wantedNode(reader: WireReader, { limits, wantsNode }: ReportCounts): Node | undefined {
  const span = reader.span();
  if (!wantsNode) return undefined;
  const { nodeBytes } = limits;
  if (nodeLength(reader.bytes, span) > nodeBytes)
    throw new TooMuchInMessage(`the node takes more than ${nodeBytes} bytes without its extensions`);
  return readNode(reader.bytes, span);
}

/** A negative duration has no meaning here and counts as none. */
function millisecondsOf(reader: WireReader): number {
  const { seconds, nanos } = readSecondsAndNanos(reader.bytes, reader.span());
  const longest = 315_576_000_000;
  return seconds > longest || nanos > 999_999_999 ? 0 : seconds * 1_000 + Math.round(nanos / 1e6);
}

function double(field: number): FieldReader<number> {
  return single(field * 8 + wireType.fixed64, 0, (reader) => reader.double());
}
