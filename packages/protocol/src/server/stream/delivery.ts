import type { ResourceName, TypeUrl } from "@xdskit/api";
import type { Node } from "../../model/basics/node.js";
import { NameSet } from "../../model/names/name-set.js";
import type { ResourceSet } from "../../model/sets/resource-set.js";
import { calledName } from "../../model/sets/variant-index.js";
import { lackedSince } from "../../model/snapshots/published.js";
import type { Snapshot } from "../../model/snapshots/snapshot.js";
import type { Request } from "../../wire/requests/requests.js";
import { noteLifetimes } from "../acknowledgements/lifetimes.js";
import type { RecordedResponse, Sending } from "../cohorts/cohort.js";
import type { CohortPosition } from "../cohorts/cohort-position.js";
import { sendingOf } from "../cohorts/sending.js";
import type { StreamOptions } from "../contract/options.js";
import { isFirst } from "../ordering/shared-stage.js";
import { among, mustWait, undecidedIn } from "../requests/demand.js";
import { isAbsenceUnreported } from "../responses/absence.js";
import { isUnconcerned, needOf } from "../responses/content.js";
import { heartbeatOf } from "../responses/heartbeats.js";
import { type Brought, headOf, outgoing } from "../responses/outgoing.js";
import type { ReportedDetails } from "../responses/reported-details.js";
import { errorsToTell } from "../responses/resource-errors.js";
import { type SharedResponse, sharedResponse } from "../responses/shared-responses.js";
import type { StreamWarming } from "../responses/stream-warming.js";
import { find } from "../state/find.js";
import { isUpToDate, type SentState, sentAll } from "../state/sent-state.js";
import type { Subscriber } from "../state/subscriber.js";
import { isDecided } from "../state/undecided-names.js";
import type { SotwOrDeltaRules, Surroundings } from "./sotw-or-delta-rules.js";

/** The target to which one type must be brought now. */
export interface TypeTarget {
  /** The snapshot's set of the type, or the set that the stage allows. */
  readonly target: ResourceSet;
  /**
   * Names that the stage holds back. A client that asks anew for one of them is neither sent it nor told that it does
   * not exist.
   */
  readonly waiting: ReadonlySet<ResourceName> | undefined;
  readonly snapshot: Snapshot;
  readonly node: Node;
  /** Milliseconds. */
  readonly now: number;
}

/** The parts of the stream that its responses need. */
export interface DeliveryContext<Kind extends Subscriber> {
  readonly options: StreamOptions;
  readonly reports: ReportedDetails;
  readonly warming: StreamWarming;
  readonly position: CohortPosition;
  readonly byType: ReadonlyMap<TypeUrl, Kind>;
  readonly surroundings: Surroundings;
}

/**
 * Makes the responses of one stream. Each brings one type from the client's set to the target that the stream
 * gives. It has the resources that the client lacks (`content.ts`), as bytes that all streams with the same need share
 * (`shared-responses.ts`), and the stream's own nonce. What a client was sent is returned: the machine records it
 * (`next-response.ts`).
 */
export class Delivery<Asked extends Request, Kind extends Subscriber> {
  readonly #rules: SotwOrDeltaRules<Asked, Kind>;
  readonly #context: DeliveryContext<Kind>;
  /** The number of responses that the stream has sent, which is the nonce of the last one. */
  #count = 0;

  constructor(rules: SotwOrDeltaRules<Asked, Kind>, context: DeliveryContext<Kind>) {
    this.#rules = rules;
    this.#context = context;
  }

  /** The heartbeat of a type, if one is due. Call it only when `bring` has nothing to send. */
  heartbeat(subscriber: Kind, now: number): Brought | undefined {
    if (subscriber.lifetimes === undefined || subscriber.undecided.awaited.size > 0) return undefined;
    const heartbeat = heartbeatOf(this.#rules, subscriber, this.#context.reports);
    return heartbeat && this.#send(subscriber, subscriber.sent, heartbeat, now, undefined, true);
  }

  /** The response that another stream of the cohort sent. The transition must have been applied to the subscriber. */
  repeat(subscriber: Kind, recorded: RecordedResponse, now: number): Sending {
    this.#count += 1;
    return sendingOf(recorded, subscriber, this.#count, now);
  }

  /** Where one type is brought now, on its way to its target. Undefined if it stays. */
  bring(subscriber: Kind, { target: current, waiting, snapshot, node, now }: TypeTarget): Brought | undefined {
    const { type } = subscriber;
    const { options, reports, warming, byType, surroundings } = this.#context;
    if (this.#rules.claimOf(subscriber) !== undefined) {
      this.#rules.compareClaims(subscriber, current, surroundings);
      // Nobody must decide any more on names that it has.
      undecidedIn(subscriber, current);
    }
    warming.deliver(subscriber, snapshot);
    const errors = reports.errors ? errorsToTell(subscriber, options) : undefined;
    if (isUpToDate(subscriber.sent, current)) return undefined;
    if (isDecided(subscriber.undecided) && isUnconcerned(subscriber.sent, subscriber.subscription, current))
      return sentAll(current);
    const undecided = undecidedIn(subscriber, current);
    if (this.#rules.sotwOrDelta === "sotw" && mustWait(subscriber)) return undefined;
    // A name that waits stays pending until it may be sent, like an undecided one: neither may be called absent.
    const { pending } = subscriber.sent;
    const waitingNames = waitingAmong(pending, waiting, snapshot.of(type));
    const later = among(pending, undecided).with(waitingNames);
    const absenceUnreported = isAbsenceUnreported(type, node);
    const about = { sotwOrDelta: this.#rules.sotwOrDelta, absenceUnreported, errors };
    let need = needOf(subscriber, current, pending.without(later), about);
    // A name that is not in a full state counts as absent, so the answer to its request comes with it.
    if (this.#rules.sotwOrDelta === "sotw" && type.fullState && waitingNames.size > 0)
      need = { ...need, mustAnswer: false };
    // The resources of a first request existed before: they come because the client asked.
    const published = isFirst(subscriber) ? undefined : lackedSince(need.sentSet, snapshot.of(type));
    const response = sharedResponse(this.#rules, need, headOf(subscriber, current, reports));
    const sent = sentAll(current, later);
    if (response === undefined) return sent;

    const isWhole = this.#rules.sotwOrDelta === "sotw" && type.fullState;
    noteLifetimes(subscriber, response.perishable, isWhole || need.everything || need.sentSet.size === 0);
    warming.sent(response.content, current, byType);
    return this.#send(subscriber, sent, response, now, published, false);
  }

  #send(
    subscriber: Kind,
    sent: SentState,
    shared: SharedResponse,
    now: number,
    published: number | undefined,
    isHeartbeat: boolean,
  ): Brought {
    this.#context.position.noteResponse(shared, published);
    return outgoing(subscriber, sent, shared, ++this.#count, now, published, isHeartbeat);
  }
}

/**
 * The names that stand for resources that all wait, be it by their own name, an alias, a collection or a variant. A
 * collection of which only some wait brings the others meanwhile.
 */
function waitingAmong(names: NameSet, waiting: ReadonlySet<ResourceName> | undefined, set: ResourceSet): NameSet {
  if (waiting === undefined || names.size === 0) return NameSet.empty;
  const waits = (name: ResourceName) => {
    const found = find(set, name);
    return found.length > 0 && found.every((resource) => waiting.has(calledName(resource)));
  };
  return NameSet.of([...names].filter((name) => waiting.has(name) || waits(name)));
}
