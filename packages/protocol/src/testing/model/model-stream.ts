import { type ApiVersion, resourceTypes } from "@xdskit/api";
import {
  defaultStreamLimits,
  type OutgoingResponse,
  type SotwOrDelta,
  type Stream,
  type StreamEffect,
} from "../../index.js";
import { createCheckedStream } from "../checked-stream.js";
import { urlOf, wordOf } from "../sample-resources.js";
import { describeSet, type SampleGroup, typeOf, watchedSnapshot } from "../sample-world.js";
import type { VersionLedger } from "../version-ledger.js";
import { decodeResponse, encodeRequest, type SeenResponse } from "../wire.js";
import type { Contents } from "./model-aliases.js";
import { aliasesOf } from "./model-aliases.js";
import { type ExpectedEffect, type ModelRequest, ModelSubscriber } from "./model-subscriber.js";

/** The order in which the types go out (rules 117–119). */
const deliveryOrder = ["runtime", "secret", "cluster", "endpoint", "extension", "listener", "scoped-route", "route"];
/**
 * The types that clients ask for again with an identical request, and the types after which they do so (rule 123; Envoy
 * on the wire, 6).
 */
const referringTo: { readonly [type: string]: readonly string[] } = {
  endpoint: ["cluster"],
  route: ["listener", "scoped-route"],
};
const nothing: Contents = new Map();
/** Effects that are about no answer. */
const besides: ReadonlySet<StreamEffect["kind"]> = new Set(["subscribed", "identified", "ttl-untold"]);

/** A request on its way to the server. */
export interface SentRequest extends ModelRequest {
  readonly type: string;
  readonly rejects: boolean;
}

/** The kind of stream that a client opens. */
export interface ModelStreamOptions {
  readonly variant: SotwOrDelta;
  readonly api: ApiVersion;
  readonly only: string | undefined;
  readonly features: readonly string[];
}

/** The machine under test and the model beside it: every event goes to both, every response is checked. */
export class ModelStream {
  readonly #stream: Stream;
  readonly #variant: SotwOrDelta;
  readonly #api: ApiVersion;
  readonly #subscribers = new Map<string, ModelSubscriber>();
  readonly #ledger: VersionLedger;
  /** Load assignments of clusters that were sent with news: rule 105's exception. */
  readonly #warmed = new Set<string>();
  readonly #bodies: { readonly body: Uint8Array; readonly copy: Uint8Array }[] = [];
  /** The newest configuration of the nodes. */
  #newest: SampleGroup;
  /** The configuration that the client gets first: that of the running pass, or else the newest. */
  #group: SampleGroup;
  /** A response of a pass went out, and more may be due. */
  #begun = false;
  /** The type of the last response if the next one of the pass must be of a later type: no request came since. */
  #after: string | undefined;
  /** The group that the machine looked at last. */
  #looked: SampleGroup | undefined;
  #identified = false;
  /** The types of all responses, oldest first. */
  readonly #order: string[] = [];

  readonly #features: readonly string[];
  /** The client is told TTLs. */
  readonly #told: boolean;

  constructor({ variant, api, only, features }: ModelStreamOptions, group: SampleGroup, ledger: VersionLedger) {
    this.#variant = variant;
    this.#features = features;
    this.#told = features.length > 0 && api === "v3";
    this.#api = api;
    this.#newest = group;
    this.#group = group;
    this.#ledger = ledger;
    this.#stream = createCheckedStream({
      variant,
      api,
      types: resourceTypes,
      only: only === undefined ? undefined : typeOf(only),
      limits: defaultStreamLimits,
      defaultNode: undefined,
    });
  }

  #subscriber(type: string): ModelSubscriber {
    const found = this.#subscribers.get(type) ?? new ModelSubscriber(type, this.#variant, this.#told);
    this.#subscribers.set(type, found);
    return found;
  }

  #there(type: string): Contents {
    return this.#group.contents.get(type) ?? nothing;
  }

  subscriber(type: string): ModelSubscriber | undefined {
    return this.#subscribers.get(type);
  }

  /** The nodes' configuration from now on. */
  snapshot(group: SampleGroup): void {
    this.#newest = group;
    if (!this.#begun) this.#adopt();
    if (this.#identified) this.#give();
  }

  #give(): void {
    const snapshot = watchedSnapshot(this.#newest, (group) => {
      this.#looked = group;
    });
    this.#none(this.#stream.step({ kind: "snapshot", snapshot, ttl: "advertised" }));
  }

  /** Time went by: these heartbeats are due. */
  beat(interval: number): void {
    this.#none(this.#stream.step({ kind: "heartbeat", interval }));
    for (const subscriber of this.#subscribers.values()) subscriber.beat();
  }

  /** Between passes the client gets the newest at once. */
  #adopt(): void {
    const group = this.#newest;
    for (const subscriber of this.#subscribers.values()) {
      const now = group.contents.get(subscriber.type) ?? nothing;
      for (const name of this.#there(subscriber.type).keys()) if (!now.has(name)) subscriber.gone(name);
    }
    this.#group = group;
  }

  /** A pass is over if, and only if, nothing of its snapshot is due. */
  #endPass(): void {
    this.#rest();
    this.#begun = false;
    this.#after = undefined;
    this.#adopt();
  }

  /** Delivers a request to both. */
  request(request: SentRequest): void {
    const { type } = request;
    const subscriber = this.#subscriber(type);
    const expected = subscriber.effectOf(request.nonce, request.rejects);
    const bytes = encodeRequest(this.#variant, {
      ...request,
      typeUrl: urlOf(type, this.#api),
      node: this.#identified ? undefined : { id: "model", clientFeatures: this.#features },
      error: request.rejects ? { code: 3, message: "no" } : undefined,
      initialVersions: Object.fromEntries(
        [...request.has].map(([name, content]) => [name, this.#ledger.versionOf(`${type} ${name}`, content) ?? "?"]),
      ),
    });
    const effects = this.#stream.step({ kind: "request", bytes });
    if (!this.#identified) {
      if (effects[0]?.kind !== "identified") throw new Error("the first request does not identify the node");
      this.#identified = true;
      this.#give();
    }
    const isQuestion =
      this.#variant === "sotw" && subscriber.isAnswered && expected !== "answer" && this.#sentSince(type);
    const saysNothing = expected === "earlier" && subscriber.repeats(request) && !isQuestion;
    this.#checkEffects(effects, saysNothing ? "stale" : expected, request);
    if (expected === "stale" || expected === "crossed") {
      subscriber.leavesOut(request);
      return;
    }
    this.#after = undefined;
    const version = this.#group.snapshot.of(typeOf(type)).version;
    const has = new Map(
      [...request.has].map(([name, content]) => [name, this.#knows(type, name, content) ? content : "?"]),
    );
    // A reconnecting client that is told TTLs gets heartbeats at once for its resources.
    if (has.size > 0 && subscriber.fresh) subscriber.beat();
    const firstLoad = type === "endpoint" && subscriber.fresh;
    subscriber.request({ ...request, has }, this.#there(type), version, isQuestion);
    if (firstLoad) for (const name of this.#warmed) subscriber.warm(name, this.#there(type), true);
  }

  /** Something that refers to this type was sent after this type was. */
  #sentSince(type: string): boolean {
    const last = (one: string) => this.#order.lastIndexOf(one);
    return (referringTo[type] ?? []).some((other) => last(other) > last(type));
  }

  #knows(type: string, name: string, content: string): boolean {
    return this.#ledger.versionOf(`${type} ${name}`, content) !== undefined;
  }

  #none(effects: readonly StreamEffect[]): void {
    for (const { kind } of effects) if (kind !== "subscribed") throw new Error(`unexpected effect: ${kind}`);
  }

  #checkEffects(effects: readonly StreamEffect[], expected: ExpectedEffect, request: SentRequest): void {
    const got = effects.map(({ kind }) => kind).filter((kind) => !besides.has(kind));
    // A rejection counts, whatever was sent since.
    if (expected === "stale" && request.rejects && got.join() === "rejected") return;
    const want = expected === "stale" ? "stale" : request.rejects ? "rejected" : "acknowledged";
    const wanted = expected === undefined || expected === "earlier" ? [] : [want];
    if (got.join() !== wanted.join()) throw new Error(`effects: got [${got}], want [${wanted}]`);
  }

  /** One response, checked; undefined when there is none. */
  next(): { readonly type: string; readonly seen: SeenResponse } | undefined {
    const outgoing = this.#stream.next();
    if (outgoing === undefined) {
      if (!this.#identified) return undefined;
      this.#endPass();
      this.#rest();
      return undefined;
    }
    if (this.#looked !== this.#group) this.#endPass();
    if (this.#looked !== this.#group) throw new Error("a response that is made from neither the pass nor the newest");
    this.#keep(outgoing);
    const decoded = decodeResponse(this.#variant, outgoing);
    const { word: type, api } = wordOf(decoded.typeUrl) ?? { word: decoded.typeUrl, api: undefined };
    if (api !== this.#api) throw new Error(`${decoded.typeUrl} on a stream of ${this.#api}`);
    const subscriber = this.#subscribers.get(type);
    if (subscriber === undefined) throw new Error(`${type} was not asked for`);
    const seen = this.#withAliasesAndTtls(decoded, this.#there(type));
    this.#ledger.note(`all of ${type}`, describeSet(this.#group, type), seen.version);
    if (seen.isHeartbeat) {
      this.#heartbeat(subscriber, seen);
      return { type, seen };
    }
    for (const { name, content = "", version } of seen.resources) {
      if (version !== undefined) this.#ledger.note(`${type} ${name}`, content, version);
    }
    if (this.#after !== undefined && deliveryOrder.indexOf(this.#after) >= deliveryOrder.indexOf(type)) {
      throw new Error(`${type} comes after ${this.#after}`);
    }
    this.#begun = true;
    this.#after = type;
    const news = new Set(subscriber.response(seen, this.#there(type)));
    this.#order.push(type);
    if (type === "cluster") this.#warm(seen, news);
    return { type, seen };
  }

  /** Rule 131: the version is the one of the client's content. */
  #heartbeat(subscriber: ModelSubscriber, seen: SeenResponse): void {
    const { type } = subscriber;
    for (const { name, version } of seen.resources) {
      const known = this.#ledger.versionOf(`${type} ${name}`, subscriber.sent.get(name) ?? "");
      if (version !== undefined && version !== known)
        throw new Error(`a heartbeat for ${name} at ${version}, not ${known}`);
    }
    subscriber.heartbeat(seen, this.#there(type));
  }

  /**
   * Aliases are part of the content, and SotW does not carry them. The same is true of the TTL, for clients that are
   * not told TTLs.
   */
  #withAliasesAndTtls(seen: SeenResponse, there: Contents): SeenResponse {
    const resources = seen.resources.map((resource) => {
      const { name, content, ttl } = resource;
      const kept = there.get(name)?.split("~")[1];
      if (ttl !== (this.#told ? kept : undefined)) throw new Error(`${name} has the TTL ${kept}, and ${ttl} was sent`);
      const aliases = aliasesOf(there.get(name));
      if (content === undefined) return resource;
      if (this.#variant === "delta" && resource.aliases.join() !== aliases.join())
        throw new Error(`${name} has the aliases ${aliases}, and ${resource.aliases} were sent (rule 135)`);
      const carried = [content, ...aliases].join("@");
      return { ...resource, content: kept === undefined ? carried : `${carried}~${kept}` };
    });
    return { ...seen, resources };
  }

  #rest(): void {
    for (const subscriber of this.#subscribers.values()) {
      const { version } = this.#group.snapshot.of(typeOf(subscriber.type));
      subscriber.atRest(this.#there(subscriber.type), version);
    }
  }

  #warm(seen: SeenResponse, news: ReadonlySet<string>): void {
    for (const { name, content = "" } of seen.resources) {
      const [, refers = name] = content.replace(/~.*/, "").split("->");
      if (refers === "static") continue;
      if (news.has(name)) this.#warmed.add(refers);
      this.#subscribers.get("endpoint")?.warm(refers, this.#there("endpoint"), news.has(name));
    }
  }

  /** All responses until there is none. */
  drain(): { readonly type: string; readonly seen: SeenResponse }[] {
    const all: { readonly type: string; readonly seen: SeenResponse }[] = [];
    for (let one = this.next(); one !== undefined; one = this.next()) all.push(one);
    return all;
  }

  /** Bodies are shared between streams: nobody may write to one that was given out. */
  #keep({ body: { bytes: body } }: OutgoingResponse): void {
    if (this.#bodies.length < 8) this.#bodies.push({ body, copy: body.slice() });
  }

  close(): void {
    for (const { body, copy } of this.#bodies) {
      if (!body.every((byte, index) => byte === copy[index])) throw new Error("a body was changed after it was sent");
    }
  }
}
