import { mostAlternatives } from "../../model/limits.js";
import { noteConfirmed } from "../acknowledgements/unconfirmed-names.js";
import type { StreamEffect } from "../contract/effects.js";
import { outgoing } from "../responses/outgoing.js";
import { noneInFlight, type Sent, usesAll } from "../state/client-use.js";
import type { Subscriber } from "../state/subscriber.js";
import { noneUnconfirmed } from "../state/subscriber.js";
import type { MovingCohort, RecordedResponse, Sending } from "./cohort.js";

/**
 * A recorded response with this number, as sent at this time (milliseconds). The transition must have been applied to
 * the subscriber.
 */
export function sendingOf(recorded: RecordedResponse, subscriber: Subscriber, count: number, at: number): Sending {
  const { sendings } = recorded;
  const place = count % mostAlternatives;
  const known = sendings[place];
  if (known !== undefined && known.sent.count === count && known.sent.at === at) return known;
  const { sent, response } = outgoing(subscriber, recorded.response, count, at, recorded.published, false);
  const made: Sending = { sent, inFlight: [sent], response, acknowledged: undefined };
  sendings[place] = made;
  return made;
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
  const sent = subscriber.inFlight[0] as Sent;
  subscriber.inFlight = noneInFlight;
  subscriber.used = usesAll(subscriber.sent.set);
  const sending = sendings[sent.count % mostAlternatives];
  let known = sending?.sent === sent ? sending.acknowledged : undefined;
  if (known === undefined || known.last.at !== now) {
    const { version, nonce, count: order, published } = sent;
    known = {
      last: { version, order, at: now, published },
      effects: [{ kind: "acknowledged", type: subscriber.type, nonce, version, published }],
    };
    if (sending?.sent === sent) sending.acknowledged = known;
  }
  subscriber.ackedLast = known.last;
  if (subscriber.unconfirmed !== noneUnconfirmed) noteConfirmed(subscriber, [sent]);
  return known.effects;
}

/** The response that these bytes acknowledge in the client's usual form. Undefined if the bytes are anything else. */
export function usuallyAnswered(
  { open }: MovingCohort,
  subscribers: readonly Subscriber[],
  bytes: Uint8Array,
): RecordedResponse | undefined {
  for (const recorded of open) {
    const subscriber = subscribers[recorded.index];
    const sent = subscriber?.inFlight[0];
    if (subscriber === undefined || sent === undefined) continue;
    if (subscriber.usual?.is(bytes, sent.version, sent.nonce)) return recorded;
  }
  return undefined;
}
