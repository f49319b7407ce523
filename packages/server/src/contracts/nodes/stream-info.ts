import type { ApiVersion } from "@xdskit/api";
import type { Node } from "@xdskit/protocol";
import type { Method } from "../transport.js";

/** A client's stream, as events and logs show it. */
export interface StreamInfo {
  /** Counted from 1; unique in the life of a server. */
  readonly id: number;
  readonly method: Method;
  readonly peer: string;
}

/** A stream whose node is known and was accepted. */
export interface NodeStreamInfo extends StreamInfo {
  readonly node: Node;
  /** The name of the node's group. */
  readonly group: string;
}

/** A call of another service than discovery, as events and logs show it. */
export interface CallInfo {
  /** Counted together with those of streams. */
  readonly id: number;
  /** The full name, such as `envoy.service.load_stats.v3.LoadReportingService`. */
  readonly service: string;
  readonly peer: string;
}

/** A client's stream of load reports (LRS), whose node is known and was accepted. */
export interface LoadStreamInfo extends CallInfo {
  readonly api: ApiVersion;
  readonly node: Node;
  /** The name of the node's group. */
  readonly group: string;
}
