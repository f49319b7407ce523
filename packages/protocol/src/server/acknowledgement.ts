import type { ErrorDetail } from "../messages/requests.js";
import type { StreamEffect } from "./contract.js";
import { noteAnswer } from "./lifetimes.js";
import type { Sent, Subscriber } from "./subscriber.js";

/** What a client says about a response: `error_detail` alone makes it a rejection, whatever version it carries (rules 20, 21, 26). */
export function acknowledgement(subscriber: Subscriber, sent: Sent, error: ErrorDetail | undefined): StreamEffect {
  const { type } = subscriber;
  noteAnswer(subscriber, sent, error !== undefined);
  const { nonce, version } = sent;
  if (error === undefined) return { kind: "acknowledged", type, nonce, version };
  return { kind: "rejected", type, nonce, version, code: error.code, message: error.message };
}
