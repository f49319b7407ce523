import { maxAlternatives } from "../../model/basics/limits.js";
import { noteConfirmed } from "../acknowledgements/unconfirmed-names.js";
import type { StreamEffect } from "../contract/effects.js";
import { outgoing } from "../responses/outgoing.js";
import { type Exchange, type NumberedResponse, withAcked, withAnswer, withSent } from "../state/exchange.js";
import type { Subscriber } from "../state/subscriber.js";
import { noneUnconfirmed } from "../state/subscriber.js";
import { usesAll } from "../state/used-state.js";
import type { MovingCohort, RecordedResponse, Sending } from "./cohort.js";

/**
 * A recorded response with this number, as sent at this time (milliseconds). The transition must have been applied to
 * the subscriber.
 */
export function sendingOf(recorded: RecordedResponse, subscriber: Subscriber, count: number, at: number): Sending {
  const { sendings } = recorded;
  const index = count % maxAlternatives;
  const known = sendings[index];
  if (known !== undefined && known.numbered.count === count && known.numbered.at === at) return known;
  const { numbered, response } = outgoing(
    subscriber,
    subscriber.sent,
    recorded.response,
    count,
    at,
    recorded.published,
    false,
  );
  const made: Sending = { numbered, response, exchange: undefined, acknowledged: undefined };
  sendings[index] = made;
  return made;
}

/** The exchange after a sending. Streams share it if nothing else is in flight, and they share the last answer. */
export function exchangeAfter(sending: Sending, before: Exchange): Exchange {
  if (before.inFlight.length > 0) return withSent(before, sending.numbered);
  if (sending.exchange === undefined || sending.exchange.lastAcked !== before.lastAcked) {
    sending.exchange = withSent(before, sending.numbered);
  }
  return sending.exchange;
}

/**
 * Records that the client acknowledged a response. It was its type's only one in flight, so the client uses everything
 * that it was sent.
 */
export function acknowledgeRecorded(
  { sendings }: RecordedResponse,
  subscriber: Subscriber,
  now: number,
): readonly StreamEffect[] {
  const before = subscriber.exchange;
  const response = before.inFlight[0] as NumberedResponse;
  subscriber.used = usesAll(subscriber.sent.set);
  const sending = sendings[response.count % maxAlternatives];
  let known = sending?.numbered === response ? sending.acknowledged : undefined;
  if (known === undefined || known.exchange.lastAcked?.at !== now) {
    const { version, nonce, count, published } = response;
    known = {
      exchange: withAcked(withAnswer(before, response, "each"), { version, count, at: now, published }),
      effects: [{ kind: "acknowledged", type: subscriber.type, nonce, version, published }],
    };
    if (sending?.numbered === response) sending.acknowledged = known;
  }
  subscriber.exchange = known.exchange;
  if (subscriber.unconfirmed !== noneUnconfirmed) noteConfirmed(subscriber, [response]);
  return known.effects;
}

/** The response that these bytes acknowledge in the client's usual form. Undefined if the bytes are anything else. */
export function usuallyAnswered(
  { inFlight }: MovingCohort,
  subscribers: readonly Subscriber[],
  bytes: Uint8Array,
): RecordedResponse | undefined {
  for (const recorded of inFlight) {
    const subscriber = subscribers[recorded.index];
    const response = subscriber?.exchange.inFlight[0];
    if (subscriber === undefined || response === undefined) continue;
    if (subscriber.usual?.is(bytes, response.version, response.nonce)) return recorded;
  }
  return undefined;
}
