import { redactErrorText } from "@xdskit/api";
import type { ErrorDetail } from "../../wire/requests/requests.js";
import type { StreamEffect } from "../contract/effects.js";
import { blameOf } from "../nack-messages/blame.js";
import { type Exchange, isBeforeAck, type NumberedResponse, noneInFlight, withAnswer } from "../state/exchange.js";
import type { Subscriber } from "../state/subscriber.js";
import type { Rejection } from "../state/used-state.js";
import { acknowledge, assumeAgain, reject, takeBack, takeWithoutResponse } from "./apply-answer.js";
import { firstPublished } from "./in-flight.js";
import { noteAnswer } from "./lifetimes.js";
import { newIn } from "./rejected.js";
import { noteConfirmed } from "./unconfirmed-names.js";

/**
 * Takes the answer to a response. `error_detail` alone makes it a rejection, whatever version it carries (rules 20, 21,
 * 26). `superseded`: it also answers all older responses of the type (SotW). `each`: it answers this response only
 * (delta).
 */
export function answered(
  subscriber: Subscriber,
  response: NumberedResponse,
  error: ErrorDetail | undefined,
  now: number,
  superseded: "superseded" | "each",
): StreamEffect {
  const assumed = takeBack(subscriber);
  const { inFlight } = subscriber.exchange;
  const effect = recordAnswer(subscriber, response, error, now, superseded);
  noteConfirmed(subscriber, inFlight);
  if (assumed !== undefined) assumeAgain(subscriber, assumed);
  return effect;
}

function recordAnswer(
  subscriber: Subscriber,
  response: NumberedResponse,
  error: ErrorDetail | undefined,
  now: number,
  superseded: "superseded" | "each",
): StreamEffect {
  const { type, exchange } = subscriber;
  const { inFlight } = exchange;
  const { nonce, version } = response;
  if (error === undefined) noteAnswer(subscriber, response, "nothing");
  subscriber.exchange = withAnswer(exchange, response, superseded);
  if (error === undefined) {
    const before = superseded === "superseded" ? inFlight.filter(({ count }) => count < response.count) : noneInFlight;
    acknowledge(subscriber, response, before, now);
    return { kind: "acknowledged", type, nonce, version, published: firstPublished(response, before) };
  }
  const { code } = error;
  const about = superseded === "superseded" ? responseAgainst(exchange, response) : response;
  const carried = newIn(subscriber, about);
  const blame = blameOf(error.message, carried);
  // A heartbeat of a full state would send the rejected content again (rule 17), so it keeps none of its TTLs alive.
  const isOneByOne = superseded === "each" || !type.fullState;
  noteAnswer(subscriber, response, isOneByOne && blame?.usesRest ? blame.names : "everything");
  // Logs, events and pages show the message on one line, so it must hold no secrets, and nothing to escape at its end.
  const message = redactErrorText(error.message).trimEnd();
  const rejection: Rejection = {
    version,
    nonce,
    code,
    message,
    at: now,
    blamed: blame?.names,
    usesRest: blame?.usesRest ?? false,
    before: subscriber.used.set,
    after: about.set,
    carried,
  };
  if (!about.isHeartbeat) reject(subscriber, about, rejection);
  // A rejected heartbeat says nothing about contents: the client has them.
  else takeWithoutResponse(subscriber);
  return { kind: "rejected", type, nonce, version, code, message, rejection };
}

/**
 * SotW: a heartbeat holds the bodies again. A client that answers only the last response may reject a heartbeat because
 * of the contents of a response before it.
 */
function responseAgainst(exchange: Exchange, response: NumberedResponse): NumberedResponse {
  if (!response.isHeartbeat) return response;
  const isOpen = (one: NumberedResponse) =>
    !one.isHeartbeat && one.count < response.count && !isBeforeAck(exchange, one);
  return exchange.inFlight.findLast(isOpen) ?? response;
}
