import type { TypeUrl } from "@xdskit/api";
import { createStream, type Stream, type StreamOptions } from "../index.js";
import { NameSet } from "../model/names/name-set.js";
import { maxInFlight, nothingExchanged } from "../server/state/exchange.js";
import { sentAll } from "../server/state/sent-state.js";
import { noneUnconfirmed, nothingDrains, type Subscriber } from "../server/state/subscriber.js";
import { noneUndecided } from "../server/state/undecided-names.js";
import { usesAll } from "../server/state/used-state.js";

/** A stream that checks its memory of the client after each event and each response. */
export function createCheckedStream(options: StreamOptions): Stream {
  const stream = createStream(options);
  const checked = <Result>(result: Result): Result => {
    for (const subscriber of (stream.asked as ReadonlyMap<TypeUrl, Subscriber>).values()) checkSubscriber(subscriber);
    return result;
  };
  const step: Stream["step"] = stream.step.bind(stream);
  const next: Stream["next"] = stream.next.bind(stream);
  return Object.assign(stream, {
    step: (...event: Parameters<Stream["step"]>) => checked(step(...event)),
    next: (now?: number) => checked(next(now)),
  });
}

type Holds = (does: boolean, otherwise: string) => void;

/** Throws if something does not hold of what stands beside the fields of `Subscriber` and of its values. */
function checkSubscriber(subscriber: Subscriber): void {
  const { type, isWhole, sent, claimed, assumed, exchange, usual } = subscriber;
  const { lastSent, inFlight } = exchange;
  const holds: Holds = (does, otherwise) => {
    if (!does) throw new Error(`${type.name}: ${otherwise}`);
  };
  holds(!isWhole || type.fullState, "`isWhole` is set, and the type has no full state");
  holds(!sent.mustAnswer || type.schema !== undefined, "`mustAnswer` is set for a type that the server does not know");
  const isSetOnly = sent.pending.size === 0 && !sent.everything && !sent.mustAnswer;
  holds(!isSetOnly || sent === sentAll(sent.set), "`sent` is no shared object");
  holds(lastSent !== undefined || exchange === nothingExchanged, "nothing was sent, and something was answered");
  holds(lastSent !== undefined || usual === undefined, "nothing was sent, and the usual answer is known");
  const isNew = lastSent === undefined && sent.set.size === 0;
  holds(claimed === undefined || isNew, "something was sent, and the claims were not compared");
  const isOpen = inFlight.length > 0 && (assumed?.upTo ?? 0) <= (lastSent?.count ?? 0);
  holds(assumed === undefined || isOpen, "an answer is assumed, and no answer is due");
  checkExchange(subscriber, holds);
  checkUsed(subscriber, holds);
  checkNames(subscriber, holds);
  checkTimes(subscriber, holds);
}

function checkExchange({ exchange: { lastSent, inFlight, lastAcked } }: Subscriber, holds: Holds): void {
  const counts = inFlight.map(({ count }) => count);
  const last = lastSent?.count ?? 0;
  holds(isAscending(counts) && (counts.at(-1) ?? 0) <= last, "responses in flight are in another order");
  holds(counts.length <= maxInFlight, "too many responses are in flight");
  holds((lastAcked?.count ?? 0) <= last, "a response was acknowledged that was not sent");
  holds(lastAcked === undefined || !counts.includes(lastAcked.count), "an acknowledged response is in flight");
}

function checkUsed({ sent, used, assumed, exchange }: Subscriber, holds: Holds): void {
  const { lastSent, inFlight, lastAcked } = exchange;
  const said = assumed?.answered ?? used;
  for (const state of [used, said]) {
    const { set, rejection, lastGood, perhaps, faulty } = state;
    const isNone = lastGood.size + perhaps.length + faulty.size === 0;
    holds(rejection !== undefined || isNone, "nothing is rejected, and `used` has more than a set");
    holds(rejection !== undefined || set === undefined || state === usesAll(set), "`used` is no shared object");
    for (const key of faulty) holds(lastGood.has(key), "something is faulty, and was not rejected");
  }
  holds(lastAcked === undefined || said.set !== undefined, "something was acknowledged, and nothing is used");
  holds(lastSent !== undefined || said.rejection === undefined, "nothing was sent, and something is rejected");
  const isAnswered = lastSent !== undefined && inFlight.length === 0 && used.rejection === undefined;
  const isBehind = used.set !== undefined && used.set !== sent.set;
  holds(!isAnswered || !isBehind, "everything was acknowledged, and the client uses something else");
}

function checkNames({ unconfirmed, undecided, subscription, exchange }: Subscriber, holds: Holds): void {
  const { names, parts } = unconfirmed;
  if (unconfirmed !== noneUnconfirmed) {
    holds(parts.length > 0 && parts.length <= maxInFlight, "no part is unconfirmed, or too many");
    const afters = parts.map(({ after }) => after);
    holds(isAscending(afters) && (afters.at(-1) ?? 0) <= (exchange.lastSent?.count ?? 0), "parts are in another order");
    const each = parts.flatMap((part) => [...part.names]);
    holds(each.length === names.size && NameSet.of(each) === names, "an unconfirmed name is in two parts, or in none");
    holds(isPart(names, subscription.names), "a name is unconfirmed, and not asked for");
  }
  if (undecided === noneUndecided) return;
  holds(undecided.names.size + undecided.awaited.size > 0, "`undecided` is no shared object");
  for (const some of [undecided.names, undecided.awaited])
    holds(isPart(some, subscription.names), "a name is undecided, and not asked for");
  holds(isPart(undecided.seen, undecided.names), "a name was seen, and is not undecided");
}

function checkTimes({ draining, grace }: Subscriber, holds: Holds): void {
  holds(grace === undefined || grace.size > 0, "`grace` is empty");
  holds(draining.length > 0 || draining === nothingDrains, "`draining` is no shared object");
  for (const { since, begun, end, until } of draining) {
    const known = [begun, until, end].filter((time) => time !== undefined);
    const isOrdered = [since, ...known].every((time, index, all) => time >= (all[index - 1] ?? since));
    holds(known.length % 3 === 0 && isOrdered, "drain times are in another order, or some are not known");
  }
}

function isAscending(numbers: readonly number[]): boolean {
  return numbers.every((one, index) => one > (numbers[index - 1] ?? -1));
}

function isPart(some: NameSet, all: NameSet): boolean {
  for (const name of some) if (!all.has(name)) return false;
  return true;
}
