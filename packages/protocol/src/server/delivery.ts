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
import { errorsToTell, noErrors } from "./resource-errors.js";
import { sendingOf } from "./sending.js";
import { type SharedResponse, sharedResponse } from "./shared-responses.js";
import type { StreamWarming } from "./stream-warming.js";
import { holdAll, isUpToDate, type Subscriber } from "./subscriber.js";
import type { Told } from "./told.js";
import type { Surroundings, VariantRules } from "./variant.js";

/** Where one type is to be brought now. */
export interface Course {
  /** What the snapshot has of it, or as much of that as may be sent now. */
  readonly target: ResourceSet;
  /** Names that wait, if a client asks for them anew. */
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

/** What one stream sends, counted: each response brings one type from what its client holds to where it is to be. */
export class Delivery<Asked extends Request, Asker extends Subscriber> {
  readonly #rules: VariantRules<Asked, Asker>;
  readonly #context: DeliveryContext<Asker>;
  #sent = 0;

  constructor(rules: VariantRules<Asked, Asker>, context: DeliveryContext<Asker>) {
    this.#rules = rules;
    this.#context = context;
  }

  /** Brings one type to its target; undefined where there is nothing to say of that. */
  bring(asker: Asker, course: Course): OutgoingResponse | undefined {
    const response = this.#respond(asker, course);
    if (response !== undefined) return response;
    const { owed } = asker;
    settleSilently(asker);
    return asker.owed === owed ? undefined : this.#respond(asker, course);
  }

  /** Only of a client that holds what the snapshot has, and is owed nothing of it; but for a full set that still waits. */
  heartbeat(asker: Asker, now: number): OutgoingResponse | undefined {
    if (asker.lifetimes === undefined || asker.waitsFor.size > 0) return undefined;
    const heartbeat = heartbeatOf(this.#rules, asker, this.#context.told);
    return heartbeat && this.#send(asker, heartbeat, now, true);
  }

  /** What another stream sent that stood at the same place; the subscriber is where it leads already. */
  repeat(asker: Asker, step: LegStep, now: number): OutgoingResponse {
    this.#sent += 1;
    const sending = sendingOf(step, asker, this.#sent, now);
    const { sent } = sending;
    this.#rules.noteSent(asker, sent);
    // One list for all who send it at that time; it is never added to.
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
    // What is there and may not be sent yet is no more absent than what is undecided.
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
