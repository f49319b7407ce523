import {
  type DeltaDiscoveryRequest,
  DeltaDiscoveryRequestSchema,
} from "@xdskit/api/envoy/service/discovery/v3/discovery";
import { encodeDelta } from "./encode.js";
import { comparedName, namesOf } from "./reference-names.js";
import type { ReferenceResource } from "./reference-state.js";
import { hasWildcard, Session } from "./session.js";

/** What a stream asked for of one type, and has. */
interface Subscription {
  readonly names: Set<string>;
  isStar: boolean;
  nonce: string;
  /** The versions that the client has. */
  readonly claimed: Map<string, string>;
  readonly everSent: Set<string>;
  /** Names of which it was told why there is none. */
  readonly told: Set<string>;
}

const hosts = "type.googleapis.com/envoy.config.route.v3.VirtualHost";

/** A delta stream of the reference server. */
export class DeltaSession extends Session<DeltaDiscoveryRequest> {
  protected readonly schema = DeltaDiscoveryRequestSchema;
  readonly #subscriptions = new Map<string, Subscription>();

  protected request(request: DeltaDiscoveryRequest): void {
    const known = this.#subscriptions.get(request.typeUrl === "" ? (this.only ?? "") : request.typeUrl);
    const type = this.typeOf(request, known === undefined);
    if (type === undefined || this.isTooMuch(type, request.resourceNamesSubscribe)) return;
    if (known === undefined) this.#first(type, request);
    else this.#later(type, known, request);
  }

  #first(type: string, request: DeltaDiscoveryRequest): void {
    if (request.responseNonce !== "" && this.does("old-nonce-stale")) return;
    const subscription: Subscription = {
      names: new Set(),
      isStar: false,
      nonce: "",
      claimed: new Map(),
      everSent: new Set(),
      told: new Set(),
    };
    this.#subscriptions.set(type, subscription);
    const { resourceNamesSubscribe: subscribe, resourceNamesUnsubscribe: unsubscribe } = request;
    const isBare = subscribe.length === 0 && (unsubscribe.length === 0 || this.does("unsubscribing-is-wildcard"));
    subscription.isStar = isBare && this.#hasWildcard(type) && !this.does("no-legacy-wildcard");
    this.#initial(type, subscription, request);
    this.#respond(type, subscription, this.#ask(type, subscription, request, true), subscription.isStar);
  }

  #hasWildcard(type: string): boolean {
    return hasWildcard(type) || (type === hosts && this.does("hosts-wildcard"));
  }

  #initial(type: string, { claimed, names }: Subscription, { initialResourceVersions }: DeltaDiscoveryRequest): void {
    for (const [name, version] of Object.entries(initialResourceVersions)) {
      const current = this.shared.state.of(type).get(name)?.version;
      if (this.does("initial-subscribes")) names.add(name);
      if (!this.does("initial-ignored"))
        claimed.set(name, this.does("initial-believed") ? (current ?? version) : version);
    }
  }

  #later(type: string, subscription: Subscription, request: DeltaDiscoveryRequest): void {
    const { responseNonce: nonce, errorDetail, resourceNamesSubscribe: subscribe } = request;
    const isAck = nonce !== "" && errorDetail === undefined;
    const isRepeated = isAck && this.isRepeated(type, nonce);
    if (
      (nonce !== "" && !this.isLastOfAll(nonce) && this.does("one-nonce-for-all")) ||
      (nonce !== "" && nonce !== subscription.nonce && this.does("stale-drops-names")) ||
      (isAck && subscribe.length > 0 && this.does("ack-drops-names")) ||
      (errorDetail !== undefined && this.does("nack-drops-names"))
    ) {
      return;
    }
    const isAnsweredAnyway =
      (errorDetail !== undefined && this.does("nack-answered")) ||
      (isAck && this.does("ack-answered")) ||
      (isRepeated && this.does("repeated-ack-answered"));
    if (isAnsweredAnyway) subscription.claimed.clear();
    if (this.does("later-initial-subscribes")) {
      for (const name of Object.keys(request.initialResourceVersions)) subscription.names.add(name);
    }
    this.#respond(type, subscription, this.#ask(type, subscription, request, false), false);
  }

  /** Takes what is asked for. Returns the names that must be answered, whatever the client has. */
  #ask(
    type: string,
    subscription: Subscription,
    request: DeltaDiscoveryRequest,
    isFirst: boolean,
  ): ReadonlySet<string> {
    const must = new Set<string>();
    const { names, claimed, everSent } = subscription;
    const asked = request.resourceNamesSubscribe;
    for (const written of asked.length > 1 && this.does("last-name-dropped") ? asked.slice(0, -1) : asked) {
      const name = comparedName(written, this.shared.mistakes);
      if (name === "*" && !this.does("star-is-a-name")) subscription.isStar = true;
      else if (isFirst || !this.does("added-ignored")) {
        names.add(name);
        const isClaimed =
          (claimed.has(name) && this.does("never-resends")) || (everSent.has(name) && this.does("sent-once"));
        if (isClaimed) claimed.set(name, this.shared.state.of(type).get(name)?.version ?? "");
        else must.add(name);
      }
    }
    if (asked.length > 0 && this.does("names-ignored")) subscription.isStar = true;
    if (must.size > 0 && this.does("resends-all")) claimed.clear();
    for (const name of request.resourceNamesUnsubscribe) {
      const isAlias = !this.shared.state.of(type).has(name) && name.startsWith("h/");
      if (isAlias && this.does("alias-kept")) continue;
      this.#drop(comparedName(name, this.shared.mistakes), subscription, must);
    }
    return must;
  }

  #drop(name: string, subscription: Subscription, must: Set<string>): void {
    const { names, claimed } = subscription;
    if (name === "*") subscription.isStar = false;
    else if (!names.delete(name)) {
      if (this.does("phantom-ends")) this.outlet.end(3, "not subscribed");
    } else if (!subscription.isStar) claimed.delete(name);
    else if (!this.does("unsubscribed-untold")) must.add(name);
    if (names.size === 0 && this.does("empty-is-wildcard")) subscription.isStar = true;
  }

  #respond(type: string, subscription: Subscription, must: ReadonlySet<string>, isDue: boolean): void {
    const { state, mistakes } = this.shared;
    const { names, isStar, claimed } = subscription;
    const there = state.of(type);
    const isOneOf = (asked: ReadonlySet<string>, one: ReferenceResource) =>
      namesOf(one, mistakes).some((name) => asked.has(name));
    if (this.does("waits-for-all") && [...names].some((name) => !there.has(name))) return;
    let resources = [...there.values()].filter(
      (one) => isOneOf(must, one) || ((isStar || isOneOf(names, one)) && claimed.get(one.name) !== one.version),
    );
    const lacksOne =
      (isStar && this.does("delta-lacks-one")) || (this.only !== undefined && this.does("service-differs"));
    if (lacksOne) resources = resources.slice(0, -1);
    const known = new Set([...there.values()].flatMap((one) => namesOf(one, mistakes)));
    const missing = this.does("missing-untold") ? [] : [...must].filter((name) => !known.has(name));
    const isUnresolved = type === hosts && !this.does("unknown-host-removed");
    const isAsked = (name: string) => namesOf({ name, aliases: [] }, mistakes).some((one) => names.has(one));
    const isGone = (name: string) => !there.has(name) && (isStar || isAsked(name));
    const isUntold = this.does("deleted-untold") || (!isDue && must.size === 0 && this.does("removals-untold"));
    const deleted = isUntold ? [] : [...claimed.keys()].filter(isGone);
    const removed = [...new Set([...(isUnresolved ? [] : missing), ...deleted])];
    const unresolved = isUnresolved ? missing : [];
    if (resources.length + removed.length + unresolved.length === 0 && !isDue) return;
    for (const name of removed) claimed.delete(name);
    for (const { name, version } of resources) {
      claimed.set(name, version);
      subscription.everSent.add(name).add(`${name} ${version}`);
    }
    subscription.nonce = this.newNonce();
    const { nonce, told } = subscription;
    const errors = this.errorsFor(missing, told);
    if (errors.length > 0 && this.does("error-alone")) resources = [];
    const { isTtlTold } = this;
    const response = { type, version: state.version, nonce, resources, removed, unresolved, errors, isTtlTold };
    this.deliver(type, nonce, encodeDelta(response, mistakes));
    const timed = [...there.values()].filter(({ name, ttlMs }) => ttlMs !== undefined && claimed.has(name));
    this.beat(type, timed, () => {
      const again = { type, version: state.version, nonce: this.newNonce(), resources: timed, isTtlTold };
      subscription.nonce = again.nonce;
      this.deliver(type, again.nonce, encodeDelta({ ...again, isHeartbeat: true }, mistakes));
    });
  }

  contentChanged(): void {
    for (const [type, subscription] of this.inOrder(this.#subscriptions)) {
      const { claimed, names, everSent } = subscription;
      if (this.does("all-resent")) claimed.clear();
      for (const { name, version } of this.shared.state.of(type).values()) {
        if (this.does("others-told") && !this.#isAsked(subscription, name)) names.add(name);
        const isUntold = this.does("created-untold") && names.has(name) && !everSent.has(name);
        const isShown = this.does("shown-once") && everSent.has(`${name} ${version}`);
        if (isUntold || isShown) claimed.set(name, version);
      }
      this.#respond(type, subscription, new Set(), false);
    }
  }

  #isAsked({ names, isStar }: Subscription, name: string): boolean {
    return isStar || names.has(name);
  }
}
