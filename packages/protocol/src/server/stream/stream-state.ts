import type { ApiVersion, ResourceType, TypeUrl } from "@xdskit/api";
import { clientKindOf } from "../../model/basics/client-kind.js";
import type { Node } from "../../model/basics/node.js";
import type { NameSet } from "../../model/names/name-set.js";
import type { Snapshot } from "../../model/snapshots/snapshot.js";
import { localityParameters, withParameters } from "../../model/subscribed/locality-parameters.js";
import type { StatusCode } from "../../wire/basics/status-code.js";
import type { ClaimedVersions } from "../../wire/requests/claimed-versions.js";
import type { RequestNames } from "../../wire/requests/names.js";
import type { Request } from "../../wire/requests/requests.js";
import { CohortPosition } from "../cohorts/cohort-position.js";
import type { StreamEffect } from "../contract/effects.js";
import type { StreamOptions } from "../contract/options.js";
import type { OrderedStream } from "../ordering/ordered-stream.js";
import type { Ordering } from "../ordering/ordering.js";
import type { SnapshotLineage } from "../ordering/snapshot-lineage.js";
import { ForeignAuthorities } from "../requests/foreign-authorities.js";
import type { UnknownTypes } from "../requests/unknown-types.js";
import type { ClaimedSnapshot } from "../responses/claimed-snapshot.js";
import { ReportedDetails } from "../responses/reported-details.js";
import { StreamWarming } from "../responses/stream-warming.js";
import type { Subscriber } from "../state/subscriber.js";
import { Delivery } from "./delivery.js";
import { KeptMemory } from "./kept-memory.js";
import type { SotwOrDeltaRules, Surroundings } from "./sotw-or-delta-rules.js";

/** The phase of a stream: before its first request, served, or ended. */
type StreamPhase =
  | { readonly kind: "new" }
  | { readonly kind: "identified"; readonly node: Node }
  | { readonly kind: "closed" };

/**
 * What one stream knows. Requests change it (`receive-request.ts`), responses come out of it (`next-response.ts`), and
 * the other streams of its order see it as an `OrderedStream`.
 */
export class StreamState<Asked extends Request, Kind extends Subscriber> implements OrderedStream {
  readonly options: StreamOptions;
  readonly rules: SotwOrDeltaRules<Asked, Kind>;
  readonly byType = new Map<TypeUrl, Kind>();
  /** In delivery order (rules 117–119), whatever the order of the requests. */
  subscribers: Kind[] = [];
  readonly warming: StreamWarming;
  phase: StreamPhase = { kind: "new" };
  lineage: SnapshotLineage | undefined;
  /** The resources that the client came back with, as they were put together last, until it has another target. */
  claimed: ClaimedSnapshot | undefined;
  /** The snapshot of the current pass, once a response of it went out; undefined between passes. See `Stream`. */
  begun: Snapshot | undefined;
  readonly reports: ReportedDetails;
  readonly kept: KeptMemory;
  /** The last time that the machine was told, in milliseconds. */
  now = 0;
  ordering: Ordering | undefined;
  unknown: UnknownTypes;
  readonly foreign: ForeignAuthorities;
  readonly position = new CohortPosition();
  readonly surroundings: Surroundings;
  readonly delivery: Delivery<Asked, Kind>;

  constructor(options: StreamOptions, rules: SotwOrDeltaRules<Asked, Kind>) {
    this.options = options;
    this.rules = rules;
    this.reports = new ReportedDetails(options);
    this.kept = new KeptMemory(options.retainedMemory);
    this.foreign = new ForeignAuthorities(options.authorities);
    this.warming = new StreamWarming(options);
    this.surroundings = new StreamSurroundings(this);
    this.delivery = new Delivery(rules, this);
  }

  follow(ordering: Ordering | undefined): void {
    if (ordering === this.ordering) return;
    this.position.leaveAndForgetKey();
    this.ordering?.leave(this);
    this.ordering = ordering;
    ordering?.join(this);
    if (this.subscribers.some((one) => this.rules.claimOf(one) !== undefined)) ordering?.cameBack(this.now);
  }

  /**
   * Leaves the cohort because of an event that the cohort does not share, and that other streams of the order may have
   * to consider.
   */
  goAlone(): void {
    this.position.leave();
    this.ordering?.leaveCohorts();
  }

  mayGoOn(): void {
    this.options.mayGoOn?.();
  }

  leaveCohort(): void {
    this.position.catchUp(this.subscribers);
    this.position.leaveAndForgetKey();
  }

  overtaken(): void {
    if (this.position.moving !== undefined) this.position.leave();
  }

  isBetween(from: Snapshot, to: Snapshot): boolean {
    return this.position.isBetween(from, to);
  }

  /** Ends the stream for a fault of its client's. */
  close(code: StatusCode, message: string): readonly StreamEffect[] {
    this.end();
    return [{ kind: "close", code, message }];
  }

  end(): void {
    for (const subscriber of this.subscribers) {
      this.kept.change(subscriber.subscription.names, undefined);
      this.kept.change(this.rules.claimsOf(subscriber), undefined);
    }
    this.kept.end(this.phase.kind === "identified" ? this.phase.node : undefined);
    this.phase = { kind: "closed" };
    this.position.give(undefined);
    // Others of the order take over what drains.
    this.ordering?.leave(this);
    this.byType.clear();
    this.subscribers = [];
    this.lineage = undefined;
    this.claimed = undefined;
    this.begun = undefined;
  }
}

/** A class: each stream of a fleet has one, and they share its functions. */
class StreamSurroundings<Asked extends Request, Kind extends Subscriber> implements Surroundings {
  readonly #state: StreamState<Asked, Kind>;

  constructor(state: StreamState<Asked, Kind>) {
    this.#state = state;
  }

  get api(): ApiVersion {
    return this.#state.options.api;
  }

  tellsTtl({ type }: Subscriber): boolean {
    return this.#state.reports.ttl(type);
  }

  sentBefore(subscriber: Subscriber): boolean {
    const { byType } = this.#state;
    return subscriber.type.askedAgainAfter.some(
      (url) => lastContentCountOf(byType.get(url)) > lastContentCountOf(subscriber),
    );
  }

  warming({ type, subscription }: Subscriber): NameSet {
    const { position, warming, byType, claimed } = this.#state;
    const { wanted } = position;
    const isAwaited = wanted !== undefined && warming.mayBeAwaited(type, byType, wanted);
    if (!isAwaited) return warming.namesOf(type.typeUrl);
    const awaited = claimed?.snapshot === wanted ? claimed.awaited.get(type.typeUrl) : undefined;
    return awaited ?? subscription.names;
  }

  sendsUnmeantWildcard(): boolean {
    const { phase } = this.#state;
    return phase.kind === "identified" && clientKindOf(phase.node) === "envoy";
  }

  namesIn(names: RequestNames, type: ResourceType): NameSet {
    const { options, phase } = this.#state;
    if (options.localityTypes?.has(type.typeUrl) !== true || phase.kind !== "identified") return names.toSet();
    return withParameters(names.toSet(), localityParameters(phase.node));
  }

  claimsDropped(claimed: ClaimedVersions): void {
    this.#state.kept.change(claimed, undefined);
  }
}

/** The number of the last response of a type on its stream that was no heartbeat; 0 if there is none. */
function lastContentCountOf(subscriber: Subscriber | undefined): number {
  return subscriber?.exchange.lastSent?.lastContentCount ?? 0;
}
