import { type Holding, none, type Sent } from "./client-use.js";
import type { OutgoingResponse, StreamEffect } from "./contract.js";
import type { LegStep } from "./leg.js";
import { outgoing } from "./outgoing.js";
import type { Subscriber } from "./subscriber.js";

/** How the usual acknowledgement of a response is noted and told. */
interface Acknowledgement {
  readonly last: NonNullable<Holding["ackedLast"]>;
  readonly effects: readonly StreamEffect[];
}

/**
 * A step as it is sent and remembered by streams that sent as many responses before, in the same millisecond: of a thousand streams that is a few. What each would
 * make for itself would live until its next response, which is what costs most to collect.
 */
export interface Sending {
  readonly sent: Sent;
  /** Of a client that has nothing else to answer. */
  readonly outstanding: readonly Sent[];
  readonly response: OutgoingResponse;
  /** As of when it was acknowledged last. */
  acknowledged: Acknowledgement | undefined;
}

/** Of each step; by what is left of the number of responses. */
const mostSendings = 8;

/** The step, as the response with this number of a stream, at this time in milliseconds; the subscriber is where it leads already. */
export function sendingOf(step: LegStep, subscriber: Subscriber, count: number, at: number): Sending {
  const { sendings } = step;
  const place = count % mostSendings;
  const known = sendings[place];
  if (known !== undefined && known.sent.count === count && known.sent.at === at) return known;
  const { sent, response } = outgoing(subscriber, step.response, count, at, false);
  const made: Sending = { sent, outstanding: [sent], response, acknowledged: undefined };
  sendings[place] = made;
  return made;
}

/** Notes that the client acknowledged the step, the one response that it did not answer: it uses all that it was to have. */
export function acknowledgeStep({ sendings }: LegStep, subscriber: Subscriber, now: number): readonly StreamEffect[] {
  const sent = subscriber.outstanding[0] as Sent;
  subscriber.outstanding = none;
  subscriber.acked = subscriber.held;
  const sending = sendings[sent.count % mostSendings];
  let known = sending?.sent === sent ? sending.acknowledged : undefined;
  if (known === undefined || known.last.at !== now) {
    const { version, nonce, count: order } = sent;
    known = {
      last: { version, order, at: now },
      effects: [{ kind: "acknowledged", type: subscriber.type, nonce, version }],
    };
    if (sending?.sent === sent) sending.acknowledged = known;
  }
  subscriber.ackedLast = known.last;
  return known.effects;
}
