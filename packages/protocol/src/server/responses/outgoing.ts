import { maxKept, type Nonce } from "@xdskit/api";
import type { ResourceSet } from "../../model/sets/resource-set.js";
import { type ResponseHead, writeNonce } from "../../wire/responses/responses.js";
import type { OutgoingResponse } from "../contract/response.js";
import { typeUrlIn } from "../requests/requested-type.js";
import type { NumberedResponse } from "../state/exchange.js";
import type { SentState } from "../state/sent-state.js";
import type { Subscriber } from "../state/subscriber.js";
import type { ReportedDetails } from "./reported-details.js";
import type { SharedResponse } from "./shared-responses.js";

/** The head of a response for this set. */
export function headOf(
  { type, api, tellsVariants }: Subscriber,
  { version }: ResourceSet,
  reports: ReportedDetails,
): ResponseHead {
  return { typeUrl: typeUrlIn(type, api), api, version, ttl: reports.ttl(type), variants: tellsVariants };
}

interface CountedNonce {
  readonly count: number;
  readonly nonce: Nonce;
  /** The nonce as an encoded field of a response. */
  readonly tail: Uint8Array;
}

/**
 * Encoded nonces, for streams that have sent equally many responses. The index of a number is the number modulo
 * `maxKept`.
 */
const nonces: CountedNonce[] = [];

function nonceOf(count: number): CountedNonce {
  const place = count % maxKept;
  const known = nonces[place];
  if (known?.count === count) return known;
  const nonce = String(count);
  const made = { count, nonce, tail: writeNonce(nonce) };
  nonces[place] = made;
  return made;
}

/** Whether a stream used this nonce for a response before the one with the number `count`. */
export function isEarlierNonce(nonce: Nonce, count: number): boolean {
  const number = Number(nonce);
  return Number.isInteger(number) && number > 0 && number < count && String(number) === nonce;
}

/** A response as one stream sends it, the record of it, and the sent state to which it brings the client. */
interface Outgoing {
  readonly sent: SentState;
  readonly numbered: NumberedResponse;
  readonly response: OutgoingResponse;
}

/** The sent state to which a client is brought: with a response, or by itself if it needs none. */
export type Brought = Outgoing | SentState;

/** `count`: the number of the stream's responses, with this one; `at` and `published` in milliseconds. */
export function outgoing(
  { type, exchange: { lastSent } }: Subscriber,
  sent: SentState,
  { content, body, perishable }: SharedResponse,
  count: number,
  at: number,
  published: number | undefined,
  isHeartbeat: boolean,
): Outgoing {
  const { set } = sent;
  const { version } = set;
  const { nonce, tail } = nonceOf(count);
  const heartbeats = content.heartbeats?.length ?? 0;
  // Rule 123: nothing warms after a heartbeat, so a heartbeat does not turn a later request into a question.
  const lastContentCount = isHeartbeat ? (lastSent?.lastContentCount ?? 0) : count;
  const resources = content.resources.length + content.unresolved.length + heartbeats;
  const removed = content.removed.length + (content.removedVariants?.length ?? 0);
  const { fresh, removed: gone } = content;
  const isBare = heartbeats > 0;
  // Spelled out field by field: one is made for every response of every stream.
  const numbered: NumberedResponse = {
    nonce,
    version,
    count,
    lastContentCount,
    at,
    published,
    perishable,
    isHeartbeat,
    isBare,
    set,
    carried: fresh,
    removed: gone,
  };
  return { sent, numbered, response: { type, nonce, version, resources, removed, isHeartbeat, body, tail } };
}
