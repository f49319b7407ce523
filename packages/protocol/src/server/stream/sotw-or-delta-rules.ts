import type { ApiVersion } from "@xdskit/api";
import type { NameSet } from "../../model/names/name-set.js";
import type { ResourceSet } from "../../model/resource-set.js";
import type { ClaimedVersions } from "../../wire/claimed-versions.js";
import type { MostKept, Request } from "../../wire/requests.js";
import type { SotwOrDelta } from "../../wire/sotw-or-delta.js";
import type { StreamEffect } from "../contract/effects.js";
import type { Demand } from "../requests/demand.js";
import type { Content, Need } from "../responses/content.js";
import type { BodyWriter } from "../responses/shared-body.js";
import type { Sent } from "../state/client-use.js";
import type { Subscriber } from "../state/subscriber.js";

/** What a variant may ask about the stream around a subscriber. */
export interface Surroundings {
  /** The API version of the method that was called. */
  readonly api: ApiVersion;
  /** The client is told TTLs of this type. */
  tellsTtl(subscriber: Subscriber): boolean;
  /**
   * Whether a type that makes clients ask again for this one (`askedAgainAfter`) was sent after this one (rule 123).
   */
  sentBefore(subscriber: Subscriber): boolean;
  /**
   * The names of this type that resources sent on this stream refer to and that warm with them (rule 122), until they
   * were delivered.
   */
  warming(subscriber: Subscriber): NameSet;
  /** Delta: the versions that a client claimed to have are kept no longer. */
  settled(claimed: ClaimedVersions): void;
}

/**
 * All in which SotW and delta differ: `sotw.ts` and `delta.ts` implement it, and `StreamMachine` is the same for both.
 * `Asked` is the variant's request, `Kind` what it remembers of a client for one type.
 */
export interface VariantRules<Asked extends Request, Kind extends Subscriber> extends BodyWriter {
  readonly variant: SotwOrDelta;
  /** Throws `MalformedMessage`, and `TooManyFields`. */
  read(bytes: Uint8Array, most: MostKept): Asked;
  /** How many names the request has, repeated ones too. */
  countNames(request: Asked): number;
  /** The request names resources by locators. */
  hasLocators(request: Asked): boolean;
  /** The first request of a type on a stream. */
  begin(subscriber: Subscriber, request: Asked, surroundings: Surroundings): Kind;
  /** A later one; `now` in milliseconds. */
  receive(subscriber: Kind, request: Asked, surroundings: Surroundings, now: number): readonly StreamEffect[];
  /** Which names a request asks for or drops that changed those subscribed to from `before` to `after`. */
  demand(request: Asked, before: NameSet, after: NameSet): Demand;
  /**
   * Compares what a reconnecting client said to have with what it is to have, once that is known; what it has need not
   * be sent.
   */
  settleClaims(subscriber: Kind, current: ResourceSet, surroundings: Surroundings): void;
  /**
   * Whether a client that said what it has, which is not compared yet, has exactly what a set has of what it asks for.
   * Undefined: it did not say, or what it said does not tell.
   */
  hasAll(subscriber: Kind, set: ResourceSet): boolean | undefined;
  /** The versions that a client claimed to have and that are not compared yet. */
  claimsOf(subscriber: Kind): ClaimedVersions | undefined;
  /** What a response for a need says. Undefined: there is nothing to say. */
  content(need: Need): Content | undefined;
  /** Equal for needs with the same bytes. */
  bodyKey(need: Need, contentKey: string): string;
  /** The client acknowledged what was sent last, in the usual way (`UsualAnswer`). */
  noteUsual(subscriber: Kind): void;
  /** A response was sent. Called while `lastSent` is still the one before. */
  noteSent(subscriber: Kind, sent: Sent): void;
}
