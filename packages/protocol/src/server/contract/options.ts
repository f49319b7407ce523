import type { ApiVersion, ResourceType, ResourceTypes, TypeUrl } from "@xdskit/api";
import type { Node } from "../../model/basics/node.js";
import type { NameSet } from "../../model/names/name-set.js";
import type { SotwOrDelta } from "../../wire/basics/sotw-or-delta.js";
import type { ClaimedVersions } from "../../wire/requests/claimed-versions.js";

/**
 * The clients that are told TTLs. `auto`: clients that say they understand them, and Envoys whose version understands
 * them. `advertised`: only clients that say so. `always`: also clients that say nothing, except gRPC's.
 */
export type TtlPolicy = (typeof ttlPolicies)[number];

/** All of them; the first is the default. */
export const ttlPolicies = ["auto", "advertised", "always"] as const;

/**
 * The clients that are told why a resource is absent (`resource_errors`, xRFC TP3). `advertised`: clients that say they
 * understand it. `always`: all clients of v3. TP3 lets servers send the field to everybody, since clients that do not
 * know it ignore it.
 */
export type ResourceErrorPolicy = "advertised" | "always";

/**
 * The limits of one stream's cost. A request beyond a limit ends that stream, and no other, with RESOURCE_EXHAUSTED
 * (rule 162).
 */
export interface StreamLimits {
  /** Names in one request, and the resources that a reconnecting delta client says in it that it has. */
  readonly namesPerRequest: number;
  /**
   * Names that one stream may be subscribed to, over all types, of 256 characters on average. The same limit holds for
   * the unanswered names of one type.
   */
  readonly namesPerStream: number;
  /** Bytes of a node without its extensions: the stream keeps these bytes for its lifetime. */
  readonly nodeBytes: number;
  /** Types that one stream may ask for. */
  readonly typesPerStream: number;
}

/**
 * The parts of its client's messages that a stream keeps: names, the node, and versions that the client claims to have.
 */
export type RetainedItem = NameSet | Node | ClaimedVersions;

/** Counts the parts that the streams of one connection keep of their client's messages. */
export interface RetainedMemory {
  /** A stream keeps `after` in place of `before`; undefined means nothing. Returns why that is too much, if it is. */
  change(before: RetainedItem | undefined, after: RetainedItem | undefined): string | undefined;
  /** The equal node that another stream of the connection keeps, or else `node`. */
  sameNode(node: Node): Node;
}

/** The kind of one stream, and its limits. */
export interface StreamOptions {
  readonly variant: SotwOrDelta;
  /** The version of the method that the client called. It decides the messages and type URLs of the responses. */
  readonly api: ApiVersion;
  readonly types: ResourceTypes;
  /** The type of a per-type stream; undefined on ADS. */
  readonly only: ResourceType | undefined;
  readonly limits: StreamLimits;
  /**
   * Whether a later request that names another node (id or cluster) ends the stream with PERMISSION_DENIED. Default
   * false: only the first request's node counts.
   */
  readonly isNodeFixed?: boolean | undefined;
  /** Used for a client that sends no node; undefined refuses it with INVALID_ARGUMENT. */
  readonly defaultNode: Node | undefined;
  /**
   * v3 type URLs of the types whose missing resources may be supplied on demand. If a client names a resource that the
   * snapshot lacks, the client is not told that it is absent until an `absent` event decides so. The owner must then
   * decide on every name of a `demanded` effect. Default: none.
   */
  readonly onDemand?: ReadonlySet<TypeUrl> | undefined;
  /**
   * The authorities of names of federation (`xdstp://authority/…`) that are served; names of others do not exist.
   * Default: any.
   */
  readonly authorities?: ReadonlySet<string> | undefined;
  /**
   * v3 type URLs of the types whose names stand for the variant of the client's place: a plain name is read as if it
   * had the node's locality as dynamic parameters (`xds.node.locality.zone` and so on). Default: none.
   */
  readonly localityTypes?: ReadonlySet<TypeUrl> | undefined;
  /**
   * Called when another stream of the same order made progress that this one may have waited for: `next` may have a
   * response.
   */
  readonly mayGoOn?: (() => void) | undefined;
  /** The clients that are told why resources are absent. Default `advertised`. */
  readonly resourceErrors?: ResourceErrorPolicy | undefined;
  /** Counts the parts that the stream keeps of its client's messages, until `end`. Default: nothing is counted. */
  readonly retainedMemory?: RetainedMemory | undefined;
}
