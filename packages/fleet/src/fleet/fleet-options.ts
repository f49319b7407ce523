import type { TlsSettings } from "@xdskit/client/connecting";
import type { SotwOrDelta } from "@xdskit/protocol";
import type { Address } from "@xdskit/server/address";

/** A fleet, and what it does. Times are in milliseconds, shares between 0 and 1. */
export interface FleetOptions {
  /** Nodes are spread over the servers. */
  readonly servers: readonly Address[];
  /** Undefined: plaintext. */
  readonly tls?: TlsSettings | undefined;
  readonly tokenFile?: string | undefined;
  /** The program that the nodes say they are: `name/version`. */
  readonly userAgent: string;
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
}
