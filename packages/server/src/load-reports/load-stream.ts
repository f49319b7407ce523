import {
  type ClusterLoad,
  type LoadStatsLimits,
  type LoadStatsRequest,
  MalformedMessage,
  type Node,
  type ResourceSet,
  readLoadStatsRequest,
  type StatusCode,
  statusCode,
  TooMuchInMessage,
} from "@xdskit/protocol";
import type { LoadReportSettings } from "../settings/load-report-settings.js";
import { loadResponse, sameNames } from "./load-response.js";

/** Everything that happens to a stream of load reports. The machine reads no clock and no network. */
export type LoadStreamEvent =
  /** One request, as the client wrote it. */
  | { readonly kind: "request"; readonly bytes: Uint8Array }
  /**
   * The clusters that the client must report from now on; `clusters` are those of its group, undefined while nothing is
   * known.
   */
  | {
      readonly kind: "wanted";
      readonly settings: LoadReportSettings;
      readonly clusters: ResourceSet | undefined;
    };

/** Something that the owner of a stream must do, or may record, after an event. */
export type LoadStreamEffect =
  /**
   * The first request named the node: find its group and answer with a `wanted` event, or end the stream. Once per
   * stream.
   */
  | { readonly kind: "identified"; readonly node: Node }
  | { readonly kind: "reported"; readonly clusters: readonly ClusterLoad[] }
  /** End the stream with this status; the machine takes no further events. */
  | { readonly kind: "close"; readonly code: StatusCode; readonly message: string };

/** Clients that support it are told to report all their clusters; others need names. */
const sendsAllClusters = "envoy.lrs.supports_send_all_clusters";

/** The server's end of one stream of load reports: events in, effects out, responses pulled when there is room. */
export type LoadStream = ReturnType<typeof createLoadStream>;

export function createLoadStream(options: {
  readonly limits: LoadStatsLimits;
  /** The node of a client that sends none; undefined refuses such a client with INVALID_ARGUMENT. */
  readonly defaultNode: Node | undefined;
}) {
  const { limits, defaultNode } = options;
  let node: Node | undefined;
  let wanted: Extract<LoadStreamEvent, { readonly kind: "wanted" }> | undefined;
  /** The content of the last response, if it named the clusters of a set. */
  let told: { readonly settings: LoadReportSettings; readonly names: ResourceSet | undefined } | undefined;
  let closed = false;

  function close(code: StatusCode, message: string): readonly LoadStreamEffect[] {
    closed = true;
    return [{ kind: "close", code, message }];
  }

  function receive(bytes: Uint8Array): readonly LoadStreamEffect[] {
    let request: LoadStatsRequest;
    try {
      request = readLoadStatsRequest(bytes, limits, { node: node === undefined });
    } catch (error) {
      // Rules 157 and 162.
      if (error instanceof TooMuchInMessage) return close(statusCode.resourceExhausted, error.message);
      if (!(error instanceof MalformedMessage)) throw error;
      return close(statusCode.invalidArgument, `malformed load report: ${error.message}`);
    }
    const effects: LoadStreamEffect[] = [];
    if (node === undefined) {
      // Rules 113–115, as on discovery streams: the first request decides the node.
      node = request.node ?? defaultNode;
      if (node === undefined) return close(statusCode.invalidArgument, "the first request has no node");
      effects.push({ kind: "identified", node });
    }
    if (request.clusters.length > 0) effects.push({ kind: "reported", clusters: request.clusters });
    return effects;
  }

  return {
    /** Never throws because of a client's bytes. */
    step(event: LoadStreamEvent): readonly LoadStreamEffect[] {
      if (closed) return [];
      if (event.kind === "request") return receive(event.bytes);
      wanted = event;
      return [];
    },
    /** The next response; undefined when the client knows which clusters to report. */
    next(): Uint8Array | undefined {
      if (closed || node === undefined || wanted === undefined) return undefined;
      const { settings, clusters } = wanted;
      if (settings.clusters !== "all" || node.clientFeatures.includes(sendsAllClusters)) {
        if (told?.settings === settings) return undefined;
        told = { settings, names: undefined };
        return loadResponse(settings, settings.clusters);
      }
      // An empty list is all clusters to some clients and none to others: the first one waits for a name.
      if (clusters === undefined || (told === undefined && clusters.size === 0)) return undefined;
      const same = told?.settings === settings && told.names !== undefined && sameNames(told.names, clusters);
      told = { settings, names: clusters };
      return same ? undefined : loadResponse(settings, clusters);
    },
  };
}
