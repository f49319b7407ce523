import type { SotwOrDelta } from "@xdskit/protocol";
import type { Address } from "@xdskit/server/address";
import type { TlsOptions } from "../../settings/options/tls-options.js";

/** The options of `bench`. Times are in milliseconds, shares between 0 and 1. */
export interface BenchOptions extends TlsOptions {
  /** Nodes are spread over the servers. */
  readonly servers: readonly Address[];
  readonly nodes: number;
  readonly variant: SotwOrDelta;
  readonly ads: boolean;
  /** `TYPE` or `TYPE=NAME,…` each; without any, the types that an Envoy asks for. */
  readonly types: readonly string[];
  /** Texts of the node, with `{n}` and `{g}`. */
  readonly nodeId: string;
  readonly nodeCluster: string;
  readonly locality: string;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly groups: number;
  /** How many nodes share a connection. */
  readonly nodesPerConnection: number;
  /** Connections a second; undefined: as fast as possible. */
  readonly ramp: number | undefined;
  /** How long it may take until all nodes hold everything. */
  readonly timeout: number;
  /** How long the fleet stays after that. */
  readonly duration: number;
  /** The share of nodes that reconnect each second. */
  readonly churn: number;
  /** The share of nodes that stop reading, and for how long. */
  readonly stall: number;
  readonly stallFor: number;
  /** The share of nodes that reject each change once. */
  readonly reject: number;
  readonly json: boolean;
}
