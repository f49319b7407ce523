import type { ResourceName, TypeUrl } from "@xdskit/api";
import type { Node } from "../../model/node.js";
import type { ResourceSet } from "../../model/resource-set.js";
import type { Snapshot } from "../../model/snapshot.js";
import type { Request } from "../../wire/requests.js";
import { noteInFlight, settleSilently } from "../acknowledgements/in-flight.js";
import { noteLifetimes } from "../acknowledgements/lifetimes.js";
import type { RecordedResponse } from "../cohorts/cohort.js";
import type { Membership } from "../cohorts/membership.js";
import { sendingOf } from "../cohorts/sending.js";
import type { StreamOptions } from "../contract/options.js";
import type { OutgoingResponse } from "../contract/response.js";
import { among, mustWait, undecidedIn } from "../requests/demand.js";
import { isAbsenceUnsaid } from "../responses/absence.js";
import { isUnconcerned, needOf } from "../responses/content.js";
import { heartbeatOf } from "../responses/heartbeats.js";
import { headOf, outgoing } from "../responses/outgoing.js";
import { errorsToTell } from "../responses/resource-errors.js";
import { type SharedResponse, sharedResponse } from "../responses/shared-responses.js";
import type { StreamWarming } from "../responses/stream-warming.js";
import type { Told } from "../responses/told.js";
import { isUpToDate, sentAll } from "../state/sent-state.js";
import { noErrors, type Subscriber } from "../state/subscriber.js";
import type { Surroundings, VariantRules } from "./sotw-or-delta-rules.js";

/** Where one type is to be brought now. */
interface Course {
  /** What the snapshot has of the type, or what the stage lets it be. */
  readonly target: ResourceSet;
  /**
   * Names that the stage holds back: a client that asks for one of them anew is neither sent it nor told that it does
   * not exist.
   */
  readonly heldBack: ReadonlySet<ResourceName> | undefined;
  readonly snapshot: Snapshot;
  readonly node: Node;
  /** Milliseconds. */
  readonly now: number;
}

/** The stream as its responses need it. */
export interface DeliveryContext<Kind extends Subscriber> {
  readonly options: StreamOptions;
  readonly told: Told;
  readonly warming: StreamWarming;
  readonly membership: Membership;
  readonly subscribers: ReadonlyMap<TypeUrl, Kind>;
  readonly surroundings: Surroundings;
}

/**
 * Makes the responses of one stream. Each brings one type from what its client holds to the target that `StreamMachine`
 * gives: what it lacks (`content.ts`), as bytes that all streams with the same need share (`shared-responses.ts`), with
 * a nonce of the stream's own.
 */
export class Delivery<Asked extends Request, Kind extends Subscriber> {
  readonly #rules: VariantRules<Asked, Kind>;
  readonly #context: DeliveryContext<Kind>;
  /** How many responses the stream has sent: the nonce of the last. */
  #sent = 0;

  constructor(rules: VariantRules<Asked, Kind>, context: DeliveryContext<Kind>) {
    this.#rules = rules;
    this.#context = context;
  }

  /**
   * Brings one type to its target. Undefined where the client need not be told anything of that: then it counts as
   * brought there.
   */
  bring(subscriber: Kind, course: Course): OutgoingResponse | undefined {
    const response = this.#respond(subscriber, course);
    if (response !== undefined) return response;
    const {
      sent: { pending },
    } = subscriber;
    settleSilently(subscriber);
    return subscriber.sent.pending === pending ? undefined : this.#respond(subscriber, course);
  }

  /** The heartbeat of a type, if one is due. To be asked for only when `bring` has nothing to send. */
  heartbeat(subscriber: Kind, now: number): OutgoingResponse | undefined {
    if (subscriber.lifetimes === undefined || subscriber.waitsFor.size > 0) return undefined;
    const heartbeat = heartbeatOf(this.#rules, subscriber, this.#context.told);
    return heartbeat && this.#send(subscriber, heartbeat, now, true);
  }

  /** Sends what another stream of the cohort sent. The transition was applied to the subscriber already. */
  repeat(subscriber: Kind, recorded: RecordedResponse, now: number): OutgoingResponse {
    this.#sent += 1;
    const sending = sendingOf(recorded, subscriber, this.#sent, now);
    const { sent } = sending;
    this.#rules.noteSent(subscriber, sent);
    // One list for all streams that send it at that time; it is never changed.
    if (subscriber.inFlight.length === 0) subscriber.inFlight = sending.inFlight;
    else noteInFlight(subscriber, sent);
    subscriber.lastSent = sent;
    return sending.response;
  }

  #respond(subscriber: Kind, { target: current, heldBack, snapshot, node, now }: Course): OutgoingResponse | undefined {
    const { type } = subscriber;
    const { options, told, warming, subscribers, surroundings } = this.#context;
    this.#rules.settleClaims(subscriber, current, surroundings);
    warming.deliver(subscriber, snapshot);
    const errors = told.errors ? errorsToTell(subscriber, options) : undefined;
    if (isUpToDate(subscriber.sent, current)) return undefined;
    if (
      subscriber.undecided.size + subscriber.waitsFor.size === 0 &&
      isUnconcerned(subscriber.sent, subscriber.subscription, current)
    ) {
      subscriber.sent = sentAll(current);
      subscriber.errors = noErrors;
      return undefined;
    }
    const undecided = undecidedIn(subscriber, current);
    if (options.variant === "sotw" && mustWait(subscriber, undecided)) return undefined;
    // A name that is held back is pending until it may be sent, as one that is undecided: neither may be called absent.
    const later = among(
      subscriber.sent.pending,
      heldBack === undefined ? undecided : new Set([...undecided, ...heldBack]),
    );
    const absenceUnsaid = isAbsenceUnsaid(type, node);
    const about = { variant: options.variant, absenceUnsaid, errors };
    const need = needOf(subscriber, current, subscriber.sent.pending.without(later), about);
    subscriber.errors = noErrors;
    const response = sharedResponse(this.#rules, need, headOf(subscriber, current, told));
    subscriber.sent = sentAll(current, later);
    if (response === undefined) return undefined;

    const isWhole = this.#rules.variant === "sotw" && type.fullState;
    noteLifetimes(subscriber, response.perishable, isWhole || need.everything || need.sentSet.size === 0);
    warming.sent(response.content, current, subscribers);
    return this.#send(subscriber, response, now, false);
  }

  #send(subscriber: Kind, shared: SharedResponse, now: number, isHeartbeat: boolean): OutgoingResponse {
    this.#context.membership.noteResponse(shared);
    const { sent, response } = outgoing(subscriber, shared, ++this.#sent, now, isHeartbeat);
    this.#rules.noteSent(subscriber, sent);
    noteInFlight(subscriber, sent);
    subscriber.lastSent = sent;
    return response;
  }
}
