import type { Node } from "../../model/basics/node.js";
import type { Snapshot } from "../../model/snapshots/snapshot.js";
import { wholeStage } from "../../planning/make-before-break.js";
import type { Request } from "../../wire/requests/requests.js";
import { takeWithoutResponse } from "../acknowledgements/apply-answer.js";
import { change, type RecordedTransition } from "../cohorts/cohort.js";
import { exchangeAfter } from "../cohorts/sending.js";
import type { OutgoingResponse } from "../contract/response.js";
import { asksForUnknown, someAsk } from "../requests/unknown-types.js";
import type { Brought } from "../responses/outgoing.js";
import { withSent } from "../state/exchange.js";
import { noErrors, type Subscriber, someHaveDrained } from "../state/subscriber.js";
import type { TypeTarget } from "./delivery.js";
import type { StreamState } from "./stream-state.js";

/** The next response to send; undefined if nothing is due. See `Stream.next`. */
export function nextResponse<Asked extends Request, Kind extends Subscriber>(
  state: StreamState<Asked, Kind>,
): OutgoingResponse | undefined {
  if (state.phase.kind !== "identified" || state.position.isIdle) return undefined;
  const { wanted, moving } = state.position;
  if (wanted === undefined) return undefined;
  if (moving !== undefined && someHaveDrained(state.subscribers, state.now)) state.goAlone();
  else if (moving?.next !== undefined) return repeat(state, moving.next, wanted);
  return findNext(state, wanted, state.phase.node);
}

/**
 * Works out the next response for this stream. It is a separate function, since inside `nextResponse` V8 would take
 * three times as long to optimize that.
 */
function findNext<Asked extends Request, Kind extends Subscriber>(
  state: StreamState<Asked, Kind>,
  wanted: Snapshot,
  node: Node,
): OutgoingResponse | undefined {
  const { ordering, position, subscribers, delivery, now } = state;
  const snapshot = state.begun ?? wanted;
  // A type that moves on without a response counts as acknowledged, which may let another type go on. So there is at
  // most one round for each type.
  for (let round = 0; round <= subscribers.length; round++) {
    const stage = ordering?.stageOf(state, snapshot, now) ?? wholeStage;
    // From now on, the other streams of its order matter.
    if (stage !== wholeStage && ordering?.isShared === true) state.goAlone();
    position.noteStage(stage);
    let moved: Kind[] | undefined;
    for (const subscriber of subscribers) {
      if (asksForUnknown(subscriber, state.unknown)) continue;
      const target = ordering?.targetOf(subscriber, stage, snapshot, now) ?? snapshot.of(subscriber.type);
      const waiting = stage.waiting.get(subscriber.type.typeUrl);
      const {
        used: { set: usedSet },
      } = subscriber;
      const course = { target, waiting, snapshot, node, now };
      const response =
        bring(state, subscriber, course) ?? record(state, subscriber, delivery.heartbeat(subscriber, now));
      if (response === undefined) {
        if (subscriber.used.set !== usedSet) moved = [...(moved ?? []), subscriber];
        continue;
      }
      if (!response.isHeartbeat) state.begun = snapshot;
      // Names that wait for the first request of their type are this stream's own: a repetition would lack them.
      if (!state.warming.isIdle) position.leave();
      if (position.moving !== undefined) position.recordSent(subscribers, subscribers.indexOf(subscriber));
      return response;
    }
    if (ordering === undefined || moved === undefined) break;
    for (const { type } of moved) ordering.progressed(state, type);
    if (stage === wholeStage) break;
  }
  state.begun = undefined;
  if (snapshot !== wanted) return nextResponse(state);
  allSent(state);
  return undefined;
}

/**
 * Brings one type to its target. Undefined if the client needs no response for that: then it counts as brought there.
 */
function bring<Asked extends Request, Kind extends Subscriber>(
  state: StreamState<Asked, Kind>,
  subscriber: Kind,
  course: TypeTarget,
): OutgoingResponse | undefined {
  const response = bringOnce(state, subscriber, course);
  if (response !== undefined) return response;
  const { pending } = subscriber.sent;
  takeWithoutResponse(subscriber);
  return subscriber.sent.pending === pending ? undefined : bringOnce(state, subscriber, course);
}

function bringOnce<Asked extends Request, Kind extends Subscriber>(
  state: StreamState<Asked, Kind>,
  subscriber: Kind,
  course: TypeTarget,
): OutgoingResponse | undefined {
  const brought = state.delivery.bring(subscriber, course);
  // The response has what the client had to be told of errors.
  if (brought !== undefined) subscriber.errors = noErrors;
  return record(state, subscriber, brought);
}

/** Records where a client was brought, and returns the response, if any. */
function record<Asked extends Request, Kind extends Subscriber>(
  { rules }: StreamState<Asked, Kind>,
  subscriber: Kind,
  brought: Brought | undefined,
): OutgoingResponse | undefined {
  if (brought === undefined) return undefined;
  if (!("numbered" in brought)) {
    subscriber.sent = brought;
    return undefined;
  }
  subscriber.sent = brought.sent;
  rules.noteSent(subscriber, brought.numbered);
  subscriber.exchange = withSent(subscriber.exchange, brought.numbered);
  return brought.response;
}

/** Repeats another stream of the cohort, and returns the response that it sent, if any. */
export function repeat<Asked extends Request, Kind extends Subscriber>(
  state: StreamState<Asked, Kind>,
  transition: RecordedTransition,
  wanted: Snapshot,
): OutgoingResponse | undefined {
  const { ordering, position, subscribers, now } = state;
  const { sends, changes, stage } = transition;
  const { moving } = position;
  const update = moving?.update;
  if (moving === update?.start && update !== undefined) {
    ordering?.target.begin(wanted, update.orderAtStart, state.lineage);
  }
  change(subscribers, changes);
  ordering?.repeat(state, stage, wanted, sends?.index, now);
  position.moved(transition);
  state.begun = sends && wanted;
  if (sends === undefined) return undefined;
  const subscriber = subscribers[sends.index] as Kind;
  const sending = state.delivery.repeat(subscriber, sends, now);
  state.rules.noteSent(subscriber, sending.numbered);
  subscriber.exchange = exchangeAfter(sending, subscriber.exchange);
  return sending.response;
}

/** There is nothing to send: the stream is in sync if it may be, or records that its cohort waits. */
export function allSent<Asked extends Request, Kind extends Subscriber>(state: StreamState<Asked, Kind>): void {
  const { phase, position, ordering, reports, subscribers } = state;
  const { wanted } = position;
  if (phase.kind !== "identified" || wanted === undefined || state.begun !== undefined) return;
  if (reports.errors || !state.warming.isIdle || someAsk(subscribers, state.unknown)) {
    position.leave();
    return;
  }
  const mayBeInSync = ordering?.mayBeInSync(state) !== false;
  if (!mayBeInSync && position.moving === undefined) return;
  position.recordNothing(subscribers, mayBeInSync, {
    needed: (subscriber) => ordering?.meanwhile(state, subscriber, wanted) ?? wanted.of(subscriber.type),
    options: state.options,
    reports,
    node: phase.node,
    isOrdered: ordering !== undefined,
    sharesOrder: ordering?.isShared === true,
    lineage: state.lineage,
  });
}
