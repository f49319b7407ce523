import { type Exchange, isBeforeAck, type NumberedResponse } from "../state/exchange.js";
import type { Subscriber } from "../state/subscriber.js";

/** The unanswered responses that may still change what the client uses: those after its last acknowledged response. */
export function inFlightSinceAck(exchange: Exchange): readonly NumberedResponse[] {
  return only(exchange.inFlight, (response) => !isBeforeAck(exchange, response));
}

/** The unanswered responses that a change may still wait for, without those that are assumed to be acknowledged. */
export function stillInFlight({ exchange, assumed }: Subscriber): readonly NumberedResponse[] {
  const open = inFlightSinceAck(exchange);
  return assumed === undefined ? open : only(open, ({ count }) => count > assumed.upTo);
}

/** The same list if it holds for all of them, which is mostly so. */
function only(
  responses: readonly NumberedResponse[],
  holds: (response: NumberedResponse) => boolean,
): readonly NumberedResponse[] {
  return responses.every(holds) ? responses : responses.filter(holds);
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
