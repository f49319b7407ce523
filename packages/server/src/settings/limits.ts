import { defaultGrpcLimits, type GrpcLimits } from "@xdskit/grpc-server";
import { defaultStreamLimits, type LoadStatsLimits, type StreamLimits } from "@xdskit/protocol";

/**
 * The limits on what clients cost. The defaults stop a runaway client, not a large fleet: an Envoy that asks for
 * 100,000 load assignments in one request passes. A stream that exceeds a limit ends with RESOURCE_EXHAUSTED; no other
 * stream is touched (rule 162). A poll that does is answered with 413 or 429.
 */
export interface ServerLimits extends GrpcLimits, StreamLimits, LoadStatsLimits, StoreLimits {
  /** Open streams and unary calls in total, each until its client has read everything or is gone. Default 100,000. */
  readonly streams: number;
  /**
   * Bytes of memory that streams keep of their clients' messages: names that they subscribe to or wait for (64 bytes
   * for each, and two for each character), nodes, and versions that they claim to have. Equal lists of names count once
   * in all, and once for each connection, as does a node that the streams of a connection repeat. Default 512 MiB in
   * all, but at most a quarter of the heap, and 128 MiB for one connection, but at most half of that.
   */
  readonly retainedBytes: number;
  readonly retainedBytesPerConnection: number;
  /**
   * Open streams of one node id. Default 20,000: without ADS an Envoy has a stream for each load assignment and route
   * configuration, and a gRPC client has one for each target.
   */
  readonly streamsPerNode: number;
  /**
   * Open streams and unary calls of one identity: what a rule of `identities` proved. Default 25,000. A node id counts
   * for `streamsPerNode` separately for each identity. Where several processes serve, they divide what is per identity.
   */
  readonly streamsPerIdentity: number;
  /** `retainedBytes` for one identity. Default 128 MiB, but at most half of what there is in all. */
  readonly retainedBytesPerIdentity: number;
  /** Polls of one identity. Default 12,500. */
  readonly pollsPerIdentity: number;
  /**
   * Requests per second of one identity, over all its streams and polls, sustained. Default 10,000. More of them wait,
   * one of each stream in turn; a stream ends only if too many of its own wait.
   */
  readonly requestsPerSecondPerIdentity: number;
  /** Requests of one identity that are answered at once. Default 100,000: four for each of its streams. */
  readonly requestBurstPerIdentity: number;
  /** Polls (REST) in total, parked ones and those being answered. Default 50,000. */
  readonly polls: number;
  /** Polls from one address. Default 20,000: a proxy may stand in front of many clients. */
  readonly pollsPerAddress: number;
  /**
   * Requests per second on one stream, or polls on one connection, sustained. Default 1,000. Acknowledgements count.
   */
  readonly requestsPerSecond: number;
  /** Requests that one stream, or one connection with polls, may send at once before the rate counts. Default 5,000. */
  readonly requestBurst: number;
  /**
   * Bytes of one answer about what clients have (CSDS); four are made or read at once. Default 32 MiB: 200,000
   * resources without contents.
   */
  readonly clientStatusBytes: number;
}

/** The limits of a server that was given none. */
export const defaultServerLimits: ServerLimits = {
  ...defaultGrpcLimits,
  ...defaultStreamLimits,
  streams: 100_000,
  retainedBytes: 512 * 1024 * 1024,
  retainedBytesPerConnection: 128 * 1024 * 1024,
  streamsPerNode: 20_000,
  streamsPerIdentity: 25_000,
  retainedBytesPerIdentity: 128 * 1024 * 1024,
  pollsPerIdentity: 12_500,
  requestsPerSecondPerIdentity: 10_000,
  requestBurstPerIdentity: 100_000,
  polls: 50_000,
  pollsPerAddress: 20_000,
  requestsPerSecond: 1_000,
  requestBurst: 5_000,
  clientStatusBytes: 32 * 1024 * 1024,
  // An Envoy reports each cluster that it has, with traffic or without.
  reportClusters: 100_000,
  reportLocalities: 100_000,
  reportNodes: 20_000,
  reportBytes: 64 * 1024 * 1024,
};

/** The limits that several processes of one server divide: what one identity may have of the server. */
export const dividedLimits = [
  ...(["streamsPerIdentity", "pollsPerIdentity", "retainedBytesPerIdentity"] as const),
  ...(["requestsPerSecondPerIdentity", "requestBurstPerIdentity"] as const),
] as const satisfies readonly (keyof ServerLimits)[];

/** The limits that cannot change while a server runs: those of connections, and of answers in progress. */
export const fixedLimits = [
  ...(Object.keys(defaultGrpcLimits) as (keyof GrpcLimits)[]),
  "clientStatusBytes",
] as const satisfies readonly (keyof ServerLimits)[];

/** How much is kept; the oldest reports go first. */
export interface StoreLimits {
  /** Nodes with reports that are kept. */
  readonly reportNodes: number;
  /** Bytes of memory, about, that all kept reports take. */
  readonly reportBytes: number;
}
