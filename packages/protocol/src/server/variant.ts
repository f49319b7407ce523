import type { ApiVersion } from "@xdskit/api";
import type { ClaimedVersions } from "../messages/claimed-versions.js";
import type { MostKept, Request } from "../messages/requests.js";
import type { NameSet } from "../name-set.js";
import type { ResourceSet } from "../resource-set.js";
import type { Sent } from "./client-use.js";
import type { Content, Need } from "./content.js";
import type { StreamEffect, Variant } from "./contract.js";
import type { Demand } from "./demand.js";
import type { BodyWriter } from "./shared-body.js";
import type { Subscriber } from "./subscriber.js";

/** What a variant may ask about the stream around a subscriber. */
export interface Surroundings {
  /** The API version of the method that was called. */
  readonly api: ApiVersion;
  /** The client is told TTLs of this type. */
  tellsTtl(subscriber: Subscriber): boolean;
  /** Whether a type that makes clients ask again for this one (`askedAgainAfter`) was sent after this one (rule 123). */
  sentBefore(subscriber: Subscriber): boolean;
  /** The names of this type that resources sent on this stream refer to and that warm with them (rule 122), until they were delivered. */
  warming(subscriber: Subscriber): NameSet;
  /** Delta: the versions that a client claimed to have are kept no longer. */
  settled(claimed: ClaimedVersions): void;
}

/**
 * All in which SotW and delta differ: `sotw.ts` and `delta.ts` implement it, and `ServerStream` is the same for both. `Asked` is the variant's request, `Asker` what it remembers of a
 * client for one type.
 */
export interface VariantRules<Asked extends Request, Asker extends Subscriber> extends BodyWriter {
  readonly variant: Variant;
  /** Throws `MalformedMessage`, and `TooManyFields`. */
  read(bytes: Uint8Array, most: MostKept): Asked;
  /** How many names the request has, repeated ones too. */
  countNames(request: Asked): number;
  /** The request names resources by locators. */
  hasLocators(request: Asked): boolean;
  /** The first request of a type on a stream. */
  begin(subscriber: Subscriber, request: Asked, surroundings: Surroundings): Asker;
  /** A later one; `now` in milliseconds. */
  receive(asker: Asker, request: Asked, surroundings: Surroundings, now: number): readonly StreamEffect[];
  /** Which names a request asks for or drops that changed those subscribed to from `before` to `after`. */
  demand(request: Asked, before: NameSet, after: NameSet): Demand;
  /** Compares what a reconnecting client said to have with what it is to have, once that is known; what it has need not be sent. */
  settleClaims(asker: Asker, current: ResourceSet, surroundings: Surroundings): void;
  /** The versions that a client claimed to have and that are not compared yet. */
  claimsOf(asker: Asker): ClaimedVersions | undefined;
  /** What a response for a need says. Undefined: there is nothing to say. */
  content(need: Need): Content | undefined;
  /** Equal for needs with the same bytes. */
  bodyKey(need: Need, contentKey: string): string;
  /** The client acknowledged what was sent last, in the usual way (`UsualAnswer`). */
  noteUsual(asker: Asker): void;
  /** A response was sent. Called while `lastSent` is still the one before. */
  noteSent(asker: Asker, sent: Sent): void;
}
