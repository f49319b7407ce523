import { none, type Sent } from "./client-use.js";
import type { StreamEffect } from "./contract.js";
import { noteHeard } from "./just-asked.js";
import type { LegStep, Sending } from "./leg.js";
import { outgoing } from "./outgoing.js";
import type { Subscriber } from "./subscriber.js";
import { noneAsked } from "./subscriber.js";

/** How many are kept of each step; their place is the number of the response modulo this. */
const mostSendings = 8;

/** A step as the response with this number of a stream, at this time in milliseconds. Its shifts were applied to the subscriber already. */
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

/** Notes that the client acknowledged a step, the only response of its type that it had not answered: it uses all that it was to have. */
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
  if (subscriber.justAsked !== noneAsked) noteHeard(subscriber, [sent]);
  return known.effects;
}
