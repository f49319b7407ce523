import type { ResourceName, TypeUrl } from "@xdskit/api";
import type { Request } from "../messages/requests.js";
import type { Node } from "../node.js";
import type { ResourceSet } from "../resource-set.js";
import type { Snapshot } from "../snapshot.js";
import { isAbsenceUnsaid } from "./absence.js";
import { isUnconcerned, needOf } from "./content.js";
import type { OutgoingResponse, StreamOptions } from "./contract.js";
import { among, mustWait, undecidedIn } from "./demand.js";
import { heartbeatOf } from "./heartbeats.js";
import { noteOutstanding, settleSilently } from "./holding.js";
import type { LegStep } from "./leg.js";
import { noteLifetimes } from "./lifetimes.js";
import type { Mover } from "./mover.js";
import { headOf, outgoing } from "./outgoing.js";
import { errorsToTell } from "./resource-errors.js";
import { sendingOf } from "./sending.js";
import { type SharedResponse, sharedResponse } from "./shared-responses.js";
import type { StreamWarming } from "./stream-warming.js";
import { holdAll, isUpToDate, noErrors, type Subscriber } from "./subscriber.js";
import type { Told } from "./told.js";
import type { Surroundings, VariantRules } from "./variant.js";

/** Where one type is to be brought now. */
export interface Course {
  /** What the snapshot has of the type, or what the stage lets it be. */
  readonly target: ResourceSet;
  /** Names that the stage holds back: a client that asks for one of them anew is neither sent it nor told that it does not exist. */
  readonly heldBack: ReadonlySet<ResourceName> | undefined;
  readonly snapshot: Snapshot;
  readonly node: Node;
  /** Milliseconds. */
  readonly now: number;
}

/** The stream as its responses need it. */
export interface DeliveryContext<Asker extends Subscriber> {
  readonly options: StreamOptions;
  readonly told: Told;
  readonly warming: StreamWarming;
  readonly mover: Mover;
  readonly askers: ReadonlyMap<TypeUrl, Asker>;
  readonly surroundings: Surroundings;
}

/**
 * Makes the responses of one stream. Each brings one type from what its client holds to the target that `ServerStream` gives: what it lacks (`content.ts`), as bytes that all
 * streams with the same need share (`shared-responses.ts`), with a nonce of the stream's own.
 */
export class Delivery<Asked extends Request, Asker extends Subscriber> {
  readonly #rules: VariantRules<Asked, Asker>;
  readonly #context: DeliveryContext<Asker>;
  /** How many responses the stream has sent: the nonce of the last. */
  #sent = 0;

  constructor(rules: VariantRules<Asked, Asker>, context: DeliveryContext<Asker>) {
    this.#rules = rules;
    this.#context = context;
  }

  /** Brings one type to its target. Undefined where the client need not be told anything of that: then it counts as brought there. */
  bring(asker: Asker, course: Course): OutgoingResponse | undefined {
    const response = this.#respond(asker, course);
    if (response !== undefined) return response;
    const { owed } = asker;
    settleSilently(asker);
    return asker.owed === owed ? undefined : this.#respond(asker, course);
  }

  /** The heartbeat of a type, if one is due. To be asked for only when `bring` has nothing to send. */
  heartbeat(asker: Asker, now: number): OutgoingResponse | undefined {
    if (asker.lifetimes === undefined || asker.waitsFor.size > 0) return undefined;
    const heartbeat = heartbeatOf(this.#rules, asker, this.#context.told);
    return heartbeat && this.#send(asker, heartbeat, now, true);
  }

  /** Sends a step of a leg that another stream went. Its shifts were applied to the subscriber already. */
  repeat(asker: Asker, step: LegStep, now: number): OutgoingResponse {
    this.#sent += 1;
    const sending = sendingOf(step, asker, this.#sent, now);
    const { sent } = sending;
    this.#rules.noteSent(asker, sent);
    // One list for all streams that send it at that time; it is never changed.
    if (asker.outstanding.length === 0) asker.outstanding = sending.outstanding;
    else noteOutstanding(asker, sent);
    asker.lastSent = sent;
    return sending.response;
  }

  #respond(asker: Asker, { target: current, heldBack, snapshot, node, now }: Course): OutgoingResponse | undefined {
    const { type } = asker;
    const { options, told, warming, askers, surroundings } = this.#context;
    this.#rules.settleClaims(asker, current, surroundings);
    warming.deliver(asker, snapshot);
    const errors = told.errors ? errorsToTell(asker, options) : undefined;
    if (isUpToDate(asker, current)) return undefined;
    if (asker.undecided.size + asker.waitsFor.size === 0 && isUnconcerned(asker, current)) {
      asker.held = current;
      asker.errors = noErrors;
      return undefined;
    }
    const undecided = undecidedIn(asker, current);
    if (options.variant === "sotw" && mustWait(asker, undecided)) return undefined;
    // A name that is held back is owed until it may be sent, as one that is undecided: neither may be called absent.
    const later = among(asker.owed, heldBack === undefined ? undecided : new Set([...undecided, ...heldBack]));
    const absenceUnsaid = isAbsenceUnsaid(type, node);
    const about = { variant: options.variant, absenceUnsaid, errors };
    const need = needOf(asker, current, asker.owed.without(later), about);
    asker.errors = noErrors;
    const response = sharedResponse(this.#rules, need, headOf(asker, current, told));
    holdAll(asker, current, later);
    if (response === undefined) return undefined;

    const isWhole = this.#rules.variant === "sotw" && type.fullState;
    noteLifetimes(asker, response.perishable, isWhole || need.everything || need.held.size === 0);
    warming.sent(response.content, current, askers);
    return this.#send(asker, response, now, false);
  }

  #send(asker: Asker, shared: SharedResponse, now: number, isHeartbeat: boolean): OutgoingResponse {
    this.#context.mover.sent(asker, shared);
    const { sent, response } = outgoing(asker, shared, ++this.#sent, now, isHeartbeat);
    this.#rules.noteSent(asker, sent);
    noteOutstanding(asker, sent);
    asker.lastSent = sent;
    return response;
  }
}
