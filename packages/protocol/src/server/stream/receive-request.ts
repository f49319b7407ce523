import { MalformedMessage, TooManyFields } from "@xdskit/api/wire";
import { NameSet } from "../../model/names/name-set.js";
import { statusCode } from "../../wire/basics/status-code.js";
import { nodeLengthOf, nodeOf, type Request } from "../../wire/requests/requests.js";
import { isPerishable } from "../acknowledgements/lifetimes.js";
import { InSyncCohort } from "../cohorts/cohort.js";
import { acknowledgeRecorded, usuallyAnswered } from "../cohorts/sending.js";
import type { StreamEffect } from "../contract/effects.js";
import { usedBy } from "../ordering/shared-stage.js";
import { anotherNode, isAnotherNode } from "../requests/another-node.js";
import { demandedOf } from "../requests/demand.js";
import { beyondNode, beyondPending, beyondRequest, beyondStream, beyondTypes } from "../requests/request-limits.js";
import { requestedType } from "../requests/requested-type.js";
import { drains, inOrder, newSubscriber, type Subscriber } from "../state/subscriber.js";
import { allSent, repeat } from "./next-response.js";
import type { StreamState } from "./stream-state.js";

/** Takes one request, as the client wrote it. Returns what it meant. Never throws because of its bytes. */
export function receiveRequest<Asked extends Request, Kind extends Subscriber>(
  state: StreamState<Asked, Kind>,
  bytes: Uint8Array,
): readonly StreamEffect[] {
  return receiveUsual(state, bytes) ?? receiveDecoded(state, bytes);
}

/**
 * Takes an acknowledgement of a recorded response without decoding it, if its bytes equal an earlier one except for
 * nonce, version and node.
 */
function receiveUsual<Asked extends Request, Kind extends Subscriber>(
  state: StreamState<Asked, Kind>,
  bytes: Uint8Array,
): readonly StreamEffect[] | undefined {
  const { position, subscribers } = state;
  const { moving } = position;
  const recorded = moving && usuallyAnswered(moving, subscribers, bytes);
  if (recorded === undefined) return undefined;
  const subscriber = subscribers[recorded.index] as Kind;
  const { draining } = subscriber;
  const before = subscriber.type.drains ? usedBy(subscriber) : [];
  state.rules.noteUsual(subscriber);
  const effects = acknowledgeRecorded(recorded, subscriber, state.now);
  if (subscriber.type.drains) state.ordering?.usesChanged(subscriber, before, state.now);
  // Drain times are this client's own, and matter to the other streams of its order.
  if (subscriber.draining !== draining) state.goAlone();
  else {
    position.acknowledged(recorded);
    // If nothing is due after the last answer, the stream is in sync at once.
    const next = position.moving?.next;
    if (next?.to instanceof InSyncCohort && position.wanted !== undefined) repeat(state, next, position.wanted);
  }
  return isPerishable(subscriber) ? withUnreported(state, subscriber, effects) : effects;
}

/** Adds to the effects of an acknowledgement, once for each type, that the client is not told TTLs. */
function withUnreported<Asked extends Request, Kind extends Subscriber>(
  state: StreamState<Asked, Kind>,
  subscriber: Kind,
  effects: readonly StreamEffect[],
): readonly StreamEffect[] {
  const resources = state.reports.noteUnreported(subscriber);
  return resources === 0 ? effects : [...effects, { kind: "ttl-untold", type: subscriber.type, resources }];
}

function receiveDecoded<Asked extends Request, Kind extends Subscriber>(
  state: StreamState<Asked, Kind>,
  bytes: Uint8Array,
): readonly StreamEffect[] {
  const { phase, options } = state;
  state.position.leave();
  try {
    const { namesPerRequest } = options.limits;
    const request = state.rules.read(bytes, { names: namesPerRequest, claims: namesPerRequest });
    if (phase.kind === "new") return identify(state, bytes, request);
    const first = phase.kind === "identified" && options.isNodeFixed ? phase.node : undefined;
    if (first !== undefined && isAnotherNode(first, nodeOf(bytes, request)))
      return state.close(statusCode.permissionDenied, anotherNode);
    const effects = subscribe(state, request);
    const [only] = effects;
    // The other streams go on alone, unless this was a plain acknowledgement after which nothing drains.
    if (effects.length !== 1 || only?.kind !== "acknowledged" || state.subscribers.some(drains))
      state.ordering?.leaveCohorts();
    if (only?.kind !== "acknowledged") return effects;
    const subscriber = state.byType.get(only.type.typeUrl);
    return subscriber !== undefined && isPerishable(subscriber) ? withUnreported(state, subscriber, effects) : effects;
  } catch (error) {
    if (error instanceof TooManyFields) return state.close(statusCode.resourceExhausted, error.message);
    // Rule 157.
    if (!(error instanceof MalformedMessage)) throw error;
    return state.close(statusCode.invalidArgument, `malformed discovery request: ${error.message}`);
  }
}

/** The first request names the node (rules 113–115). */
function identify<Asked extends Request, Kind extends Subscriber>(
  state: StreamState<Asked, Kind>,
  bytes: Uint8Array,
  request: Asked,
): readonly StreamEffect[] {
  const { options, kept } = state;
  const large = beyondNode(nodeLengthOf(bytes, request), options.limits);
  if (large !== undefined) return state.close(statusCode.resourceExhausted, large);
  const reported = nodeOf(bytes, request) ?? options.defaultNode;
  if (reported === undefined) return state.close(statusCode.invalidArgument, "the first request has no node");
  const node = options.retainedMemory?.sameNode(reported) ?? reported;
  state.phase = { kind: "identified", node };
  const much = kept.change(undefined, node);
  if (much !== undefined) return state.close(statusCode.resourceExhausted, much);
  state.reports.identify(node);
  return [{ kind: "identified", node }, ...subscribe(state, request)];
}

/** Takes the part of a request about one type: an answer, a subscription, or both. */
function subscribe<Asked extends Request, Kind extends Subscriber>(
  state: StreamState<Asked, Kind>,
  request: Asked,
): readonly StreamEffect[] {
  const { rules, options, byType, position } = state;
  const { limits } = options;
  const beyond = beyondRequest(rules.countNames(request), limits);
  if (beyond !== undefined) return state.close(statusCode.resourceExhausted, beyond);
  const requested = requestedType(request.typeUrl, options);
  if (requested.kind === "refused") return state.close(statusCode.invalidArgument, requested.message);
  const { type, api } = requested;
  const subscriber = byType.get(type.typeUrl);
  const pendingBefore = subscriber?.sent.pending.size ?? 0;
  const before = subscriber?.subscription;
  const namesBefore = before?.names ?? NameSet.empty;
  const effects = subscriber === undefined ? [] : hear(state, subscriber, request);
  if (subscriber === undefined) {
    const many = beyondTypes(byType.size, limits);
    if (many !== undefined) return state.close(statusCode.resourceExhausted, many);
    const added = rules.begin(newSubscriber(type, api), request, state.surroundings);
    state.warming.begun(added);
    byType.set(type.typeUrl, added);
    state.ordering?.target.typesChanged();
    state.subscribers = inOrder(state.subscribers, added);
    const { wildcard, names } = added.subscription;
    effects.push({ kind: "subscribed", type, wildcard, names: names.size });
  }
  const known = byType.get(type.typeUrl);
  if (known === undefined) return effects;
  const much = countKept(state, known, subscriber === undefined, namesBefore);
  if (much !== undefined) return state.close(statusCode.resourceExhausted, much);
  const tellsVariants = known.tellsVariants || rules.hasLocators(request);
  if (known.subscription !== before || known.tellsVariants !== tellsVariants) {
    position.leaveAndForgetKey();
    known.tellsVariants = tellsVariants;
    const many = beyondStream(state.subscribers, limits);
    if (many !== undefined) return state.close(statusCode.resourceExhausted, many);
  }
  const unread = subscriber && beyondPending(subscriber, pendingBefore, limits);
  if (unread !== undefined) return state.close(statusCode.resourceExhausted, unread);
  const after = known.subscription.names;
  if (after !== namesBefore) effects.push(...state.foreign.note(type, after, namesBefore));
  if (options.onDemand?.has(type.typeUrl)) {
    const demanded = demandedOf(known, rules.demand(request, namesBefore, after), position.wanted);
    if (demanded !== undefined) return [...effects, demanded];
  }
  if (effects.length === 1 && effects[0]?.kind === "acknowledged") allSent(state);
  return effects;
}

/** Takes a later request of a type. */
function hear<Asked extends Request, Kind extends Subscriber>(
  state: StreamState<Asked, Kind>,
  subscriber: Kind,
  request: Asked,
): StreamEffect[] {
  const { exchange } = subscriber;
  const before = subscriber.type.drains ? usedBy(subscriber) : [];
  const effects = [...state.rules.receive(subscriber, request, state.surroundings, state.now)];
  const { ordering } = state;
  if (ordering !== undefined && subscriber.exchange !== exchange) {
    ordering.usesChanged(subscriber, before, state.now);
    ordering.progressed(state, subscriber.type);
  }
  return effects;
}

/** Counts everything that the stream keeps of a request; returns the reason if that is too much. */
function countKept<Asked extends Request, Kind extends Subscriber>(
  { kept, rules }: StreamState<Asked, Kind>,
  subscriber: Kind,
  isNew: boolean,
  namesBefore: NameSet,
): string | undefined {
  const { type, subscription, sent } = subscriber;
  // Everything is counted before anything is refused, because `end` takes back everything.
  const claims = isNew ? kept.change(undefined, rules.claimsOf(subscriber)) : undefined;
  const names = kept.change(namesBefore, subscription.names);
  const pending = kept.changePending(type.typeUrl, sent.pending);
  return pending ?? names ?? claims;
}
