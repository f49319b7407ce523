import {
  anotherNode,
  type ClusterLoad,
  isAnotherNode,
  type LoadStatsLimits,
  MalformedMessage,
  type Node,
  type ResourceSet,
  readLoadStatsRequest,
  statusCode,
  TooMuchInMessage,
} from "@xdskit/protocol";
import type { Refusal } from "../../contracts/transport.js";
import type { LoadReportSettings } from "../../settings/load-report-settings.js";
import { loadResponse, sameNames } from "./load-response.js";

/** A request that was read. */
interface LoadRequest {
  /** Undefined if it is not the first one. */
  readonly node: Node | undefined;
  readonly clusters: readonly ClusterLoad[];
}

/** Clients that support it are told to report all their clusters; others need names. */
const sendsAllClusters = "envoy.lrs.supports_send_all_clusters";

/** The server's end of one stream of load reports: what came, and what goes out. It reads no clock and no network. */
export class LoadStream {
  readonly #limits: LoadStatsLimits;
  readonly #defaultNode: Node | undefined;
  readonly #isNodeFixed: boolean;
  #node: Node | undefined;
  /** The content of the last response, if it named the clusters of a set. */
  #reported: { readonly settings: LoadReportSettings; readonly names: ResourceSet | undefined } | undefined;

  /**
   * `defaultNode`: of a client that sends none; undefined refuses such a client with INVALID_ARGUMENT. `isNodeFixed`: a
   * later request that names another node ends the stream.
   */
  constructor(limits: LoadStatsLimits, defaultNode: Node | undefined, isNodeFixed = false) {
    this.#isNodeFixed = isNodeFixed;
    this.#limits = limits;
    this.#defaultNode = defaultNode;
  }

  /** Reads one request, as the client wrote it. A refusal ends the stream. Never throws because of a client's bytes. */
  receive(bytes: Uint8Array): LoadRequest | Refusal {
    const isFirst = this.#node === undefined;
    try {
      const { node, clusters } = readLoadStatsRequest(bytes, this.#limits, { node: isFirst || this.#isNodeFixed });
      if (this.#node !== undefined) {
        const isAnother = this.#isNodeFixed && isAnotherNode(this.#node, node);
        return isAnother ? { code: statusCode.permissionDenied, message: anotherNode } : { node: undefined, clusters };
      }
      // Rules 113–115, as on discovery streams: the first request decides the node.
      this.#node = node ?? this.#defaultNode;
      if (this.#node !== undefined) return { node: this.#node, clusters };
      return { code: statusCode.invalidArgument, message: "the first request has no node" };
    } catch (error) {
      // Rules 157 and 162.
      if (error instanceof TooMuchInMessage) return { code: statusCode.resourceExhausted, message: error.message };
      if (!(error instanceof MalformedMessage)) throw error;
      return { code: statusCode.invalidArgument, message: `malformed load report: ${error.message}` };
    }
  }

  /**
   * The next response, if the client must report these clusters from now on: those of its group, undefined while
   * nothing is known. Undefined when it knows that, and before its first request.
   */
  next(settings: LoadReportSettings, clusters: ResourceSet | undefined): Uint8Array | undefined {
    const reported = this.#reported;
    if (this.#node === undefined) return undefined;
    if (settings.clusters !== "all" || this.#node.clientFeatures.includes(sendsAllClusters)) {
      if (reported?.settings === settings) return undefined;
      this.#reported = { settings, names: undefined };
      return loadResponse(settings, settings.clusters);
    }
    // An empty list is all clusters to some clients and none to others: the first one waits for a name.
    if (clusters === undefined || (reported === undefined && clusters.size === 0)) return undefined;
    const same = reported?.settings === settings && reported.names !== undefined && sameNames(reported.names, clusters);
    this.#reported = { settings, names: clusters };
    return same ? undefined : loadResponse(settings, clusters);
  }
}
