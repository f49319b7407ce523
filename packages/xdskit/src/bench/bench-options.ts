import type { Address } from "@xdskit/server/address";
import type { TlsOptions } from "../settings/tls-options.js";

/** What `bench` was asked for. Times are in milliseconds, shares between 0 and 1. */
export interface BenchOptions extends TlsOptions {
  /** Nodes are spread over them. */
  readonly servers: readonly Address[];
  readonly nodes: number;
  readonly variant: "sotw" | "delta";
  readonly ads: boolean;
  /** `TYPE` or `TYPE=NAME,…` each; none of them is what an Envoy asks for. */
  readonly types: readonly string[];
  /** Of the node: texts with `{n}` and `{g}`. */
  readonly nodeId: string;
  readonly nodeCluster: string;
  readonly locality: string;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly groups: number;
  /** Nodes that share a connection. */
  readonly perConnection: number;
  /** Connections a second; undefined: as fast as they come about. */
  readonly ramp: number | undefined;
  /** How long all may take to hold everything. */
  readonly timeoutMs: number;
  /** How long the fleet stays, once they do. */
  readonly durationMs: number;
  /** The share that is closed and connects again, each second. */
  readonly churn: number;
  /** The share that stops reading, and for how long. */
  readonly stall: number;
  readonly stallMs: number;
  /** The share that rejects each change once. */
  readonly reject: number;
  readonly json: boolean;
}
