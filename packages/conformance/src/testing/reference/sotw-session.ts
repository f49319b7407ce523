import { type DiscoveryRequest, DiscoveryRequestSchema } from "@xdskit/api/envoy/service/discovery/v3/discovery";
import { encodeSotw } from "./encode.js";
import { comparedName, namesOf } from "./reference-names.js";
import type { ReferenceResource } from "./reference-state.js";
import { hasWildcard, Session } from "./session.js";

/** What a stream asked for of one type, and was sent. */
interface Subscription {
  names: ReadonlySet<string>;
  isStar: boolean;
  isNamed: boolean;
  nonce: string;
  readonly sent: Map<string, string>;
  /** Names of which it was told that there is none. */
  readonly told: Set<string>;
  /** Everything that was ever sent together. */
  readonly shown: Set<string>;
}

/** A SotW stream of the reference server. */
export class SotwSession extends Session<DiscoveryRequest> {
  protected readonly schema = DiscoveryRequestSchema;
  readonly #subscriptions = new Map<string, Subscription>();

  protected request(request: DiscoveryRequest): void {
    const known = this.#subscriptions.get(request.typeUrl === "" ? (this.only ?? "") : request.typeUrl);
    const type = this.typeOf(request, known === undefined);
    if (type === undefined || this.isTooMuch(type, request.resourceNames)) return;
    if (known === undefined) this.#first(type, request);
    else if (this.#isFresh(known, request)) this.#later(type, known, request);
    else if (this.isMade(request.responseNonce) && this.does("stale-answered"))
      this.#respond(type, known, this.#wanted(type, known));
  }

  #isFresh({ nonce }: Subscription, { responseNonce }: DiscoveryRequest): boolean {
    if (responseNonce === "") return true;
    return this.does("one-nonce-for-all") ? this.isLastOfAll(responseNonce) : responseNonce === nonce;
  }

  #first(type: string, request: DiscoveryRequest): void {
    if (request.responseNonce !== "" && this.does("old-nonce-stale")) return;
    const subscription: Subscription = {
      names: new Set(),
      isStar: false,
      isNamed: false,
      nonce: "",
      sent: new Map(),
      told: new Set(),
      shown: new Set(),
    };
    this.#subscriptions.set(type, subscription);
    this.#ask(type, subscription, request.resourceNames);
    const wanted = this.#wanted(type, subscription);
    const version = request.versionInfo;
    if (version !== "" && this.does("any-version-current")) return;
    const isPart = version === this.shared.state.version && this.does("reconnect-in-part");
    if (hasWildcard(type) || wanted.length > 0 || this.#missing(type, subscription).length > 0)
      this.#respond(type, subscription, isPart ? wanted.slice(0, 1) : wanted);
  }

  #later(type: string, subscription: Subscription, request: DiscoveryRequest): void {
    const { responseNonce, errorDetail, resourceNames } = request;
    const isAck = responseNonce !== "" && errorDetail === undefined;
    const isRepeated = isAck && this.isRepeated(type, responseNonce);
    const isAnsweredAnyway =
      (errorDetail !== undefined && this.does("nack-answered")) ||
      (isAck && this.does("ack-answered")) ||
      (isRepeated && this.does("repeated-ack-answered"));
    if (isAnsweredAnyway) {
      this.#respond(type, subscription, this.#wanted(type, subscription));
      return;
    }
    if (errorDetail !== undefined && this.does("nack-drops-names")) return;
    const before = new Set(this.#wanted(type, subscription));
    this.#ask(type, subscription, resourceNames);
    const wanted = this.#wanted(type, subscription);
    const added = wanted.filter(
      (name) => !before.has(name) && !(this.does("sent-once") && subscription.sent.has(name)),
    );
    const isUntold = this.#missing(type, subscription).some((name) => !subscription.told.has(name));
    const isNew = added.length > 0 || isUntold || (this.does("name-ends-star") && wanted.length < before.size);
    if (!isNew || this.does("added-ignored")) return;
    const isWhole = hasWildcard(type) && !this.does("state-in-parts");
    this.#respond(type, subscription, isWhole ? wanted : added);
  }

  #ask(type: string, subscription: Subscription, names: readonly string[]): void {
    const isStarNamed = names.includes("*") && !this.does("star-is-a-name");
    const isLegacy = hasWildcard(type) && !subscription.isNamed && names.length === 0;
    subscription.names = new Set(names.map((name) => comparedName(name, this.shared.mistakes)));
    subscription.isStar =
      (isStarNamed && !(names.length > 1 && this.does("name-ends-star"))) ||
      (isLegacy && !this.does("no-legacy-wildcard")) ||
      (names.length === 0 && this.does("empty-is-wildcard")) ||
      (names.length > 0 && this.does("names-ignored"));
    subscription.isNamed ||= names.length > 0;
  }

  /** The names of what the client must get. */
  #wanted(type: string, { names, isStar }: Subscription): readonly string[] {
    const there = this.shared.state.of(type);
    const asked = [...names].filter((name) => name !== "*");
    if (this.does("waits-for-all") && asked.some((name) => !there.has(name))) return [];
    const isNamed = (one: ReferenceResource) => namesOf(one, this.shared.mistakes).some((name) => names.has(name));
    const wanted = [...there.values()].filter((one) => isStar || isNamed(one)).map(({ name }) => name);
    const isCut =
      (asked.length > 1 && this.does("last-name-dropped")) || (this.only !== undefined && this.does("service-differs"));
    return isCut ? wanted.slice(0, -1) : wanted;
  }

  /** What was asked for and does not exist, for a client that is to be told. */
  #missing(type: string, { names }: Subscription): readonly string[] {
    if (!this.understands("xds.config.supports-resource-errors")) return [];
    const there = new Set(
      [...this.shared.state.of(type).values()].flatMap((one) => namesOf(one, this.shared.mistakes)),
    );
    return [...names].filter((name) => name !== "*" && !there.has(name));
  }

  #respond(type: string, subscription: Subscription, names: readonly string[]): void {
    const { state, mistakes } = this.shared;
    const resources = names.flatMap((name) => state.of(type).get(name) ?? []);
    if (hasWildcard(type) && !this.does("sent-once")) subscription.sent.clear();
    for (const { name, version } of resources) subscription.sent.set(name, version);
    subscription.shown.add(resources.map(({ name, version }) => `${name} ${version}`).join());
    subscription.nonce = this.newNonce();
    const { nonce, told } = subscription;
    const errors = this.errorsFor(this.#missing(type, subscription), told);
    const { version } = state;
    const shown = errors.length > 0 && this.does("error-alone") ? [] : resources;
    const response = { type, version, nonce, resources: shown, errors, isTtlTold: this.isTtlTold };
    this.deliver(type, nonce, encodeSotw(response, mistakes));
    // An Envoy needs the whole resources to renew their TTLs.
    this.beat(type, resources, () => {
      subscription.nonce = this.newNonce();
      const again = { ...response, nonce: subscription.nonce, errors: [] };
      const isOther = this.does("heartbeat-version");
      this.deliver(type, again.nonce, encodeSotw(isOther ? { ...again, version: `${version}-beat` } : again, mistakes));
    });
  }

  contentChanged(): void {
    const { state } = this.shared;
    for (const [type, subscription] of this.inOrder(this.#subscriptions)) {
      const { sent, shown } = subscription;
      const all = [...state.of(type).keys()];
      const wanted = this.does("others-told") ? all : this.#wanted(type, subscription);
      const versionOf = (name: string) => state.of(type).get(name)?.version;
      const isUntold = (name: string) => this.does("created-untold") && !sent.has(name);
      const changed = wanted.filter((name) => sent.get(name) !== versionOf(name) && !isUntold(name));
      const isLess = hasWildcard(type) && [...sent.keys()].some((name) => !wanted.includes(name));
      const isDue = changed.length > 0 || (isLess && !this.does("removals-untold")) || this.does("all-resent");
      const picture = wanted.map((name) => `${name} ${versionOf(name)}`).join();
      if (!isDue || (this.does("shown-once") && shown.has(picture))) continue;
      this.#respond(type, subscription, hasWildcard(type) ? wanted : changed);
    }
  }
}
