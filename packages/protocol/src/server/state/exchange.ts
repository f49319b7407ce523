import type { Nonce, Resource, ResourceName, Version } from "@xdskit/api";
import type { NameSet } from "../../model/names/name-set.js";
import type { ResourceSet } from "../../model/sets/resource-set.js";

/** The record of a response that a stream sent, with its number on the stream. */
export interface NumberedResponse {
  readonly nonce: Nonce;
  readonly version: Version;
  /** The number of the response on its stream, over all types, from 1. */
  readonly count: number;
  /** The `count` of the type's last response that is no heartbeat, up to this one; 0 if there is none. */
  readonly lastContentCount: number;
  /** When it was sent, in milliseconds of the machine's time. */
  readonly at: number;
  /**
   * When the oldest change in it was published, in milliseconds; undefined if it only answers a request, or nobody
   * recorded the time.
   */
  readonly published: number | undefined;
  /** The client is at this set once it used the response. */
  readonly set: ResourceSet;
  /** The resources in it that are new to the client, or changed (`Content.fresh`). */
  readonly carried: readonly Resource[];
  /** The names that it removes: delta only. */
  readonly removed: readonly ResourceName[];
  /** The resources in it with a TTL, as `identityOf` names them; empty for a client that is not told TTLs. */
  readonly perishable: NameSet;
  readonly isHeartbeat: boolean;
  /** A heartbeat without bodies. */
  readonly isBare: boolean;
}

/** The record of an acknowledgement. */
export interface Acked {
  readonly version: Version;
  /** The `count` of the response. */
  readonly count: number;
  /** When it came, in milliseconds of the machine's time. */
  readonly at: number;
  /** When the oldest change that it answered was published, in milliseconds; undefined if nobody recorded the time. */
  readonly published: number | undefined;
}

/**
 * The responses of one type that one stream sent, and the answers of its client. It is immutable: a response or an
 * answer makes a new value. Streams that send the same with the same nonce, and whose clients answer in the same
 * millisecond, share one object (`cohorts/sending.ts`).
 *
 * Invariant: `inFlight` is in the order of `count`, and nothing in it is newer than `lastSent`. Invariant: `lastSent`
 * is in flight until the client answers it. Invariant: `lastAcked` is about a response that is not in flight.
 */
export interface Exchange {
  readonly lastSent: NumberedResponse | undefined;
  /** The responses that the client has not answered. Bounded, so that a silent client does not cost memory. */
  readonly inFlight: readonly NumberedResponse[];
  readonly lastAcked: Acked | undefined;
}

/** The number of unanswered responses that are remembered; beyond this the oldest are forgotten. */
export const maxInFlight = 32;

/** One object for all clients with nothing in flight. */
export const noneInFlight: readonly NumberedResponse[] = [];

/** The value of a client that was sent nothing. */
export const nothingExchanged: Exchange = exchange(undefined, noneInFlight, undefined);

/** Makes every `Exchange`, so that all have one hidden class in V8. */
function exchange(
  lastSent: NumberedResponse | undefined,
  inFlight: readonly NumberedResponse[],
  lastAcked: Acked | undefined,
): Exchange {
  return { lastSent, inFlight, lastAcked };
}

/** A response was sent. */
export function withSent({ inFlight, lastAcked }: Exchange, response: NumberedResponse): Exchange {
  const all = inFlight.length === 0 ? [response] : [...inFlight.slice(1 - maxInFlight), response];
  return exchange(response, all, lastAcked);
}

/**
 * The client answered a response. `superseded`: it also answers all older responses of the type (SotW). `each`: it
 * answers this response only (delta). Always a new object.
 */
export function withAnswer(
  { lastSent, inFlight, lastAcked }: Exchange,
  { count: answered }: NumberedResponse,
  superseded: "superseded" | "each",
): Exchange {
  const rest = inFlight.filter(({ count }) => (superseded === "superseded" ? count > answered : count !== answered));
  return exchange(lastSent, rest.length === 0 ? noneInFlight : rest, lastAcked);
}

/** An answer was an acknowledgement, newer than all before. */
export function withAcked({ lastSent, inFlight }: Exchange, acked: Acked): Exchange {
  return exchange(lastSent, inFlight, acked);
}

/** Whether the client answered the last response, or was sent none. */
export function isAnswered({ lastSent, inFlight }: Exchange): boolean {
  return lastSent === undefined || inFlight.at(-1) !== lastSent;
}

/** Whether a response is older than the client's last acknowledgement, or is that very response. */
export function isBeforeAck({ lastAcked }: Exchange, { count }: NumberedResponse): boolean {
  return count <= (lastAcked?.count ?? 0);
}
