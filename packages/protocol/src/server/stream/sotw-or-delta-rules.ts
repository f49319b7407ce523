import type { ApiVersion, ResourceType, Version } from "@xdskit/api";
import type { NameSet } from "../../model/names/name-set.js";
import type { ResourceSet } from "../../model/sets/resource-set.js";
import type { SotwOrDelta } from "../../wire/basics/sotw-or-delta.js";
import type { ClaimedVersions } from "../../wire/requests/claimed-versions.js";
import type { RequestNames } from "../../wire/requests/names.js";
import type { MostKept, Request } from "../../wire/requests/requests.js";
import type { StreamEffect } from "../contract/effects.js";
import type { Demand } from "../requests/demand.js";
import type { Content, ResponseNeed } from "../responses/content.js";
import type { BodyWriter } from "../responses/shared-body.js";
import type { NumberedResponse } from "../state/exchange.js";
import type { Subscriber } from "../state/subscriber.js";

/** The facts that the rules may ask for about the stream around a subscriber. */
export interface Surroundings {
  /** The API version of the called method. */
  readonly api: ApiVersion;
  /** Whether the client is told TTLs of this type. */
  tellsTtl(subscriber: Subscriber): boolean;
  /**
   * Whether a type that makes clients ask again for this one (`askedAgainAfter`) was sent after this one (rule 123).
   */
  sentBefore(subscriber: Subscriber): boolean;
  /**
   * The names of this type that resources may wait for to become warm: those sent on this stream (rule 122), until the
   * names are delivered, or those that the client has from an earlier stream.
   */
  warming(subscriber: Subscriber): NameSet;
  /**
   * Delta: whether a `*` in the client's first request of a type may stand for nothing. Envoy takes an empty first
   * request for a wildcard, whatever the type is, and repeats it as `*` on its next stream (Envoy on the wire, 7).
   */
  sendsUnmeantWildcard(): boolean;
  /** The names of a request, as the client means them (`localityTypes`). */
  namesIn(names: RequestNames, type: ResourceType): NameSet;
  /** Delta: the stream no longer keeps the versions that a client claimed to have. */
  claimsDropped(claimed: ClaimedVersions): void;
}

/**
 * Everything in which SotW and delta differ. `sotw.ts` and `delta.ts` implement it; the rest is the same for
 * both. `Asked` is the request, `Kind` the state of a client for one type.
 */
export interface SotwOrDeltaRules<Asked extends Request, Kind extends Subscriber> extends BodyWriter {
  readonly sotwOrDelta: SotwOrDelta;
  /** Throws `MalformedMessage` and `TooManyFields`. */
  read(bytes: Uint8Array, most: MostKept): Asked;
  /** The number of names in the request, with repetitions. */
  countNames(request: Asked): number;
  /** Whether the request names resources by locators. */
  hasLocators(request: Asked): boolean;
  /** Takes the first request of a type on a stream. */
  begin(subscriber: Subscriber, request: Asked, surroundings: Surroundings): Kind;
  /** Takes a later request; `now` in milliseconds. */
  receive(subscriber: Kind, request: Asked, surroundings: Surroundings, now: number): readonly StreamEffect[];
  /** The names that a request adds or drops, which changed the subscribed names from `before` to `after`. */
  demand(request: Asked, before: NameSet, after: NameSet): Demand;
  /**
   * Compares a reconnecting client's claims with its target, once that is known. Resources that it has need not be
   * sent.
   */
  compareClaims(subscriber: Kind, current: ResourceSet, surroundings: Surroundings): void;
  /**
   * Whether a client with claims that were not compared yet has exactly a set's part of its subscription. Undefined if
   * it claimed nothing, or its claims do not tell.
   */
  hasAll(subscriber: Kind, set: ResourceSet): boolean | undefined;
  /** The claims that were not compared yet: a version for all, or one for each resource. */
  claimOf(subscriber: Kind): ClaimedVersions | Version | undefined;
  /** The claimed versions that were not compared yet. */
  claimsOf(subscriber: Kind): ClaimedVersions | undefined;
  /** The content of the response for a need. Undefined if there is nothing to send. */
  content(need: ResponseNeed): Content | undefined;
  /** Equal for needs with the same bytes. */
  bodyKey(need: ResponseNeed, contentKey: string): string;
  /** Records that the client acknowledged the last response in the usual bytes (`UsualAnswer`). */
  noteUsual(subscriber: Kind): void;
  /** Records a response. Called while `exchange.lastSent` is still the previous one. */
  noteSent(subscriber: Kind, response: NumberedResponse): void;
}
