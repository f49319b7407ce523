import type { NumberedResponse } from "../state/numbered-response.js";
import type { Subscriber } from "../state/subscriber.js";

/** The number of unanswered responses that are remembered; beyond this the oldest are forgotten. */
export const mostInFlight = 32;

/** Notes a response that was sent. */
export function noteInFlight(subscriber: Subscriber, response: NumberedResponse): void {
  // Streams share these lists, so they are never changed in place.
  const { inFlight } = subscriber;
  subscriber.inFlight = inFlight.length === 0 ? [response] : [...inFlight.slice(1 - mostInFlight), response];
}

/** The unanswered responses that may still change what the client uses: those after its last acknowledged response. */
export function inFlightSinceAck({ inFlight, ackedLast }: Subscriber): readonly NumberedResponse[] {
  return after(inFlight, ackedLast?.count ?? 0);
}

/** The unanswered responses that a change may still wait for, without those that are assumed to be acknowledged. */
export function stillInFlight({ inFlight, ackedLast, assumed }: Subscriber): readonly NumberedResponse[] {
  return after(inFlight, Math.max(ackedLast?.count ?? 0, assumed?.upTo ?? 0));
}

function after(inFlight: readonly NumberedResponse[], last: number): readonly NumberedResponse[] {
  return inFlight.every(({ count }) => count > last) ? inFlight : inFlight.filter(({ count }) => count > last);
}

/** When the oldest change that an answer is about was published; undefined if it is about no change. */
export function firstPublished(
  { published }: NumberedResponse,
  before: readonly NumberedResponse[],
): number | undefined {
  let first = published;
  for (const { published: at } of before) if (at !== undefined && !(at >= (first ?? Infinity))) first = at;
  return first;
}
