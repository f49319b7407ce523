import type { Message } from "@bufbuild/protobuf";
import type { Resource, ResourceName, ResourceType } from "@xdskit/api";
import type { Node } from "@xdskit/protocol";

/**
 * The answer of a supplier for a name: a message of that name, a resource (from `createResource`) with it as its name
 * or as an alias, or nothing.
 */
export type Supplied = Message | Resource | undefined;

/** One name that clients ask for and that no layer of their group has. */
export interface SupplyRequest {
  readonly type: ResourceType;
  /** As the client asked for it; for a virtual host `<route configuration>/<host>`, see `splitVirtualHostName`. */
  readonly name: ResourceName;
  /** The name of the group. Groups are asked for separately, since each sees other layers. */
  readonly group: string;
  /** Of the client that asked last. */
  readonly node: Node;
  /**
   * Aborts when the answer is no longer wanted: no client subscribes, a layer has the name now, the call took too
   * long, the name is asked for anew, or the server closes. Stop watching then; `signal.reason` says why. `update`
   * does nothing from then on.
   */
  readonly signal: AbortSignal;
  /**
   * Calls a function once when `signal` aborts, or at once if it already has: for suppliers of very many names, each
   * of which would keep a signal.
   */
  readonly onEnd: (call: () => void) => void;
  /**
   * Replaces the resource, at any time until `signal` aborts and as often as needed; `undefined`: it no longer exists.
   * An unsuitable value is reported by an event and changes nothing. An update before `supply` has returned is newer
   * than its result.
   */
  readonly update: (supplied: Supplied) => void;
  /**
   * The lasting part of this, for suppliers of very many names: one object to keep for each, instead of functions for
   * `update` and `onEnd`.
   */
  readonly lease: SupplyLease;
}

/** The lasting part of a request, until it ends. Call its functions on the object, never detached. */
export interface SupplyLease {
  readonly type: ResourceType;
  readonly name: ResourceName;
  /** As `update` of the request. */
  update(supplied: Supplied): void;
  /** As `onEnd` of the request. */
  onEnd(listener: EndListener): void;
}

/** Hears once that a request has ended: a function, or an object that is there anyway. */
export type EndListener = (() => void) | { ended(): void };

/**
 * Supplies a name that clients ask for and no layer has. Called once for a name of a group, however many streams ask
 * for it. Throwing or rejecting means that the answer is not known: it is called again later, see `retryMs`. Returning
 * `undefined` means that there is none.
 */
export type Supplier = (request: SupplyRequest) => Supplied | PromiseLike<Supplied>;

/**
 * Resources that are supplied when they are first asked for. All but `types` and `supply` may be left out. Times are
 * milliseconds.
 */
export interface OnDemandOptions {
  /**
   * Types that `supply` is asked for: `cluster`, `cds`, or a type URL. It is not asked for other types, nor for a
   * wildcard or a collection.
   */
  readonly types: readonly string[];
  readonly supply: Supplier;
  /** Calls of `supply` in progress at once. Default 64. */
  readonly concurrency?: number | undefined;
  /** Names that may wait for a call. Names beyond are tried again later, as after an error. Default 10,000. */
  readonly queue?: number | undefined;
  /**
   * Names that clients may ask for at once, of all groups, together with unsubscribed names that are kept, which go
   * first. One stream may ask for half of them. Names beyond are refused: clients are told that they do not exist
   * (RESOURCE_EXHAUSTED, if they understand errors), and are served when they ask again and there is room. Default
   * 200,000.
   */
  readonly names?: number | undefined;
  /** How long one call may take before it counts as failed and its signal aborts. Default 10,000. */
  readonly timeoutMs?: number | undefined;
  /**
   * How long clients wait for the first answer about a name. Then they are told that it does not exist, and get it all
   * the same if it comes later. Default 3,000: less than the 5 s for which Envoy's on-demand filter waits for a
   * cluster.
   */
  readonly answerWithinMs?: number | undefined;
  /**
   * How long an absence is believed. After that, `supply` is asked again when a client asks again, and automatically
   * while a client subscribes: after this time, then after twice this time and so on, up to `recheckMs`. Default
   * 10,000.
   */
  readonly negativeMs?: number | undefined;
  /**
   * The longest time between two such calls. Default 600,000. `Infinity` for `negativeMs` and this: only `update` says
   * that it exists.
   */
  readonly recheckMs?: number | undefined;
  /** How long a supplied resource is kept after the last client unsubscribed. Default 60,000. */
  readonly lingerMs?: number | undefined;
  /** The most names that are kept without a subscriber; those left first go first. Default 10,000. */
  readonly lingering?: number | undefined;
  /**
   * How long the first retry after an error waits; every further one waits twice as long as the one before. Default
   * 500.
   */
  readonly retryMs?: number | undefined;
  /** The longest wait for a retry. Default 30,000. */
  readonly retryMaxMs?: number | undefined;
}

/** The settings that count and wait. */
export type OnDemandLimits = {
  readonly [K in keyof Omit<OnDemandOptions, "types" | "supply">]-?: number;
};

/** The defaults of `OnDemandOptions`. */
export const defaultOnDemandLimits: OnDemandLimits = {
  concurrency: 64,
  queue: 10_000,
  names: 200_000,
  timeoutMs: 10_000,
  answerWithinMs: 3_000,
  negativeMs: 10_000,
  recheckMs: 600_000,
  lingerMs: 60_000,
  lingering: 10_000,
  retryMs: 500,
  retryMaxMs: 30_000,
};

/** Fills in what was left out. */
export function limitsOf(options: OnDemandOptions): OnDemandLimits {
  const limits = { ...defaultOnDemandLimits };
  for (const key of Object.keys(defaultOnDemandLimits) as (keyof OnDemandLimits)[])
    limits[key] = options[key] ?? limits[key];
  return limits;
}
