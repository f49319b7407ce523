import type { ApiVersion, ResourceType, ResourceTypes, TypeUrl } from "@xdskit/api";
import type { NameSet } from "../../model/names/name-set.js";
import type { Node } from "../../model/node.js";
import type { ClaimedVersions } from "../../wire/claimed-versions.js";
import type { SotwOrDelta } from "../../wire/sotw-or-delta.js";

/**
 * Which clients are told of TTLs: those that say that they understand them, and Envoys of which that is known by their
 * version (`auto`); only those that say so (`advertised`); or also those that say nothing, but for gRPC's (`always`).
 */
export type TtlPolicy = (typeof ttlPolicies)[number];

/** All of them; the first is the default. */
export const ttlPolicies = ["auto", "advertised", "always"] as const;

/**
 * Which clients are told why a resource is not there (`resource_errors`, xRFC TP3): those that say that they understand
 * it (`advertised`), or all of v3 (`always`): TP3 lets servers send the field to everybody, since who does not know it
 * ignores it.
 */
export type ResourceErrorPolicy = "advertised" | "always";

/**
 * What one stream may cost. A request that goes beyond a limit ends that stream with RESOURCE_EXHAUSTED (rule 162), no
 * other.
 */
export interface StreamLimits {
  /** Names in one request. */
  readonly namesPerRequest: number;
  /**
   * Names that one stream may be subscribed to, over all types, of 256 characters in the mean; also names of one type
   * that may wait to be answered, and resources of one type that a reconnecting delta client may say it has.
   */
  readonly namesPerStream: number;
  /** Bytes of a node, without its extensions: all that is kept of it for as long as the stream lives. */
  readonly nodeBytes: number;
  /** Types that one stream may ask for. */
  readonly typesPerStream: number;
}

/** What streams keep of what their clients say: names, the node, and versions that a client claims to have. */
export type HeldItem = NameSet | Node | ClaimedVersions;

/** Counts what the streams of one connection keep of what their client says. */
export interface HeldMemory {
  /** A stream keeps `after` in the place of `before`, undefined for nothing; says why that is too much, if so. */
  change(before: HeldItem | undefined, after: HeldItem | undefined): string | undefined;
  /** The equal node that another stream of the connection keeps, or this one. */
  sameNode(node: Node): Node;
}

/** What one stream is, and what it may take. */
export interface StreamOptions {
  readonly variant: SotwOrDelta;
  /** Of the method that the client called: messages and type URLs of the responses follow it. */
  readonly api: ApiVersion;
  readonly types: ResourceTypes;
  /** The type of a per-type stream; undefined on ADS. */
  readonly only: ResourceType | undefined;
  readonly limits: StreamLimits;
  /** Used for a client that sends no node; undefined refuses it with INVALID_ARGUMENT. */
  readonly defaultNode: Node | undefined;
  /**
   * v3 type URLs of the types of which what is missing may be supplied on demand: what a client names and the snapshot
   * lacks is not said to be absent before an `absent` event decides so. Whoever lists a type here must decide on every
   * name of a `demanded` effect. Default: none.
   */
  readonly onDemand?: ReadonlySet<TypeUrl> | undefined;
  /**
   * The authorities of names of federation (`xdstp://authority/…`) that are served; names of others do not exist.
   * Default: any.
   */
  readonly authorities?: ReadonlySet<string> | undefined;
  /**
   * Called when something happened on another stream of the same order that this one may have waited for: `next` may
   * have something.
   */
  readonly progressed?: (() => void) | undefined;
  /** Which clients are told why resources are not there. Default `advertised`. */
  readonly resourceErrors?: ResourceErrorPolicy | undefined;
  /** Is told of what the stream keeps of what its client says, until `end`. Default: nobody is. */
  readonly heldMemory?: HeldMemory | undefined;
}
