import type { ApiVersion } from "@xdskit/api";
import type { SotwOrDelta } from "../../wire/basics/sotw-or-delta.js";
import type { Random } from "../random.js";
import type { Content } from "../sample-resources.js";
import type { SeenResponse } from "../wire.js";
import { aliasesOf, isAlias, lose, realNames } from "./model-aliases.js";
import type { SentRequest } from "./model-stream.js";
import { wholeTypes } from "./model-subscriber.js";
import { ModelTimers } from "./model-timers.js";

const noNames: readonly string[] = [];
const nothing: ReadonlyMap<string, Content> = new Map();

/**
 * A client's behaviour for one type: it wants some names, applies responses, answers them, and remembers across
 * streams.
 */
export class ModelClient {
  readonly type: string;
  readonly #variant: SotwOrDelta;
  readonly #api: ApiVersion;
  readonly #whole: boolean;
  readonly #random: Random;
  wildcard = false;
  /** The wildcard was never said aloud. */
  #isImplicit = false;
  readonly names = new Set<string>();
  /** Contents that it was sent and wanted, accepted or not. */
  readonly seen = new Map<string, Content>();
  /** Contents that it accepted. */
  readonly #accepted = new Map<string, Content>();
  #version = "";
  #nonce = "";
  /** The nonce of the last response that it accepted, with which Envoy's unified mux asks (interop 5). */
  #goodNonce = "";
  #subscribed = false;
  /** It never wanted anything but everything: only then a version tells its resources (rule 33). */
  #alwaysAll = false;
  /** The first request on this stream named something, so that an empty list means nothing (rules 42–44). */
  #named = false;
  /** A response that is not answered yet: Envoy holds back the ACK of clusters that warm. */
  #unanswered: SentRequest | undefined;
  /**
   * It dropped a name whose resource may still be in flight, while the server forgets that the client had it. If the
   * client then asks for an alias of it, it keeps that resource; and if other resources have the alias too, nobody
   * tells it that this one has gone. That is so with every word that stands for several resources.
   */
  #mayHoldUnwanted = false;
  readonly #timers = new ModelTimers();

  constructor(type: string, variant: SotwOrDelta, api: ApiVersion, random: Random) {
    this.#api = api;
    this.type = type;
    this.#variant = variant;
    this.#whole = wholeTypes.has(type);
    this.#random = random;
  }

  /** Wants a resource of this content, by its name or by an alias. */
  wants(name: string, content: Content | undefined): boolean {
    return this.wildcard || this.names.has(name) || aliasesOf(content).some((alias) => this.names.has(alias));
  }

  get #list(): readonly string[] {
    if (!this.wildcard) return [...this.names];
    return this.#isImplicit && this.names.size === 0 ? [] : ["*", ...this.names];
  }

  #request(more: Partial<SentRequest>): SentRequest {
    return {
      type: this.type,
      rejects: false,
      nonce: "",
      subscribe: noNames,
      unsubscribe: noNames,
      has: nothing,
      names: this.#variant === "sotw" ? this.#list : noNames,
      version: this.#variant === "sotw" ? this.#version : "",
      ...more,
    };
  }

  /** The first request on a new stream: all names that it wants, and perhaps its claims. */
  begin(pool: readonly string[]): SentRequest {
    this.#nonce = "";
    this.#goodNonce = "";
    this.#unanswered = undefined;
    this.#mayHoldUnwanted = false;
    if (!this.#subscribed) {
      this.#subscribed = true;
      this.wildcard = this.#random.chance(this.#whole ? 0.6 : 0.2);
      this.#isImplicit = this.wildcard && this.#whole && this.#random.chance(0.7);
      for (const name of this.#random.some(pool, this.wildcard ? 0.15 : 0.5))
        if (!this.#isImplicit) this.names.add(name);
      this.#alwaysAll = this.wildcard && this.names.size === 0;
    } else if (this.#isImplicit && this.names.size > 0) this.#isImplicit = false;
    // A first request for nothing at all would ask for everything.
    if (this.#whole && !this.wildcard && this.names.size === 0) this.names.add(this.#random.pick(pool));
    this.#named = this.#list.length > 0;
    return this.#variant === "sotw" ? this.#beginSotw() : this.#beginDelta(pool);
  }

  #beginSotw(): SentRequest {
    const nonce = this.#random.chance(0.1) ? "another-stream's" : "";
    this.seen.clear();
    if (!this.#alwaysAll || this.#random.chance(0.2)) {
      // A version says nothing if there are names; alone with the wildcard it would claim to have everything.
      const sure = !this.wildcard || this.names.size > 0;
      this.#version = this.#random.pick(["", "another-server's", ...(sure ? [this.#version] : [])]);
      this.#accepted.clear();
      return this.#request({ nonce });
    }
    // The resources of a pure wildcard at its version need not be sent again.
    for (const [name, content] of this.#accepted) this.seen.set(name, content);
    return this.#request({ nonce });
  }

  #beginDelta(pool: readonly string[]): SentRequest {
    const has = new Map<string, Content>();
    if (this.#random.chance(0.7)) {
      // No server could tell it that a resource which it had by an alias is gone: it does not keep that.
      for (const [name, content] of this.#accepted)
        if ((this.wildcard || this.names.has(name)) && this.#random.chance(0.9)) has.set(name, content);
      if (this.#random.chance(0.2)) has.set(this.#random.pick(realNames(pool)), "?");
    }
    this.seen.clear();
    this.#accepted.clear();
    for (const [name, content] of has) {
      if (this.wants(name, content)) this.seen.set(name, content);
      if (this.wants(name, content) && content !== "?") this.#accepted.set(name, content);
    }
    const star = this.wildcard && !this.#isImplicit ? ["*"] : [];
    return this.#request({ subscribe: [...star, ...this.names], has });
  }

  /** Wants more, or less, or the same again. `quiet`: nothing of this type is in flight. */
  change(pool: readonly string[], quiet: boolean): SentRequest {
    const nonce = this.#random.chance(0.1)
      ? "made-up"
      : this.#variant === "delta" && this.#random.chance(0.5)
        ? ""
        : this.#askingNonce();
    // Rule 50: in v2 there is no way out of the implicit wildcard.
    if (this.#isImplicit && this.#api === "v2") return this.#request({ nonce });
    if (quiet) this.#mayHoldUnwanted = false;
    const added = new Set(this.#random.some(pool, 0.3).filter((word) => !isAlias(word) || !this.#mayHoldUnwanted));
    const dropped = new Set(this.#random.some(this.names, 0.3).filter((name) => !added.has(name)));
    // A SotW request with an unknown nonce is ignored, so it must say nothing new.
    if (this.#variant === "sotw" && nonce === "made-up") return this.#request({ nonce });
    const toWildcard = !this.wildcard && quiet && this.#random.chance(0.25);
    const fromWildcard = this.wildcard && this.#random.chance(0.2);
    for (const name of added) this.names.add(name);
    for (const name of dropped) this.names.delete(name);
    if (dropped.size > 0 || fromWildcard) this.#mayHoldUnwanted = true;
    if (toWildcard) this.wildcard = true;
    if (fromWildcard) this.wildcard = false;
    if (this.wildcard ? this.names.size > 0 : true) this.#alwaysAll = false;
    const empty = () => !this.wildcard && this.names.size === 0;
    if (this.#variant === "sotw") {
      // Names end the implicit wildcard: it must be named from now on.
      if (this.names.size > 0 || fromWildcard) this.#isImplicit = false;
      // The wildcard that was never spoken cannot be dropped without a name.
      if (this.#whole && !this.#named && empty()) this.names.add(this.#random.pick(pool));
      return this.#request({ nonce });
    }
    if (fromWildcard) this.#isImplicit = false;
    for (const name of dropped) this.#timers.forget(name);
    for (const [name, content] of this.seen) {
      if (this.wants(name, content)) continue;
      this.seen.delete(name);
      this.#timers.forget(name);
    }
    for (const [name, content] of this.#accepted) if (!this.wants(name, content)) this.#accepted.delete(name);
    const phantom = this.#random.chance(0.05)
      ? this.#random.some(pool, 0.2).filter((name) => !this.names.has(name))
      : [];
    return this.#request({
      nonce,
      subscribe: [...(toWildcard ? ["*"] : []), ...added],
      unsubscribe: [...(fromWildcard ? ["*"] : []), ...dropped, ...phantom],
      has: this.#random.chance(0.05) ? new Map([[this.#random.pick(realNames(pool)), "?"]]) : nothing,
    });
  }

  /** The very same request again. */
  repeat(): SentRequest {
    return this.#request({ nonce: this.#askingNonce() });
  }

  #askingNonce(): string {
    return this.#variant === "sotw" && this.#random.chance(0.3) ? this.#goodNonce : this.#nonce;
  }

  /** A heartbeat without a body for something that it does not hold: Envoy rejects it. */
  cannotTake({ resources }: SeenResponse): boolean {
    const byAlias = [...this.names].some(isAlias);
    return resources.some(
      ({ name, content, ttl }) =>
        content === undefined && ttl !== undefined && (byAlias || this.wants(name, undefined)) && !this.seen.has(name),
    );
  }

  /** Time went by: resources without news for their TTL are gone (rule 134). Returns their names. */
  expire(now: number): readonly string[] {
    const over = this.#timers.over(now).filter((name) => this.seen.has(name));
    for (const name of over) {
      this.seen.delete(name);
      this.#accepted.delete(name);
    }
    return over;
  }

  /** Applies a response and answers it, now or later. */
  receive(response: SeenResponse, rejects: boolean, late: boolean, now: number): SentRequest | undefined {
    this.#nonce = response.nonce;
    const keepsOthers = this.#variant === "delta" || !this.#whole;
    this.#timers.receive(response, rejects, keepsOthers, now);
    // Resources without bodies are no updates.
    const seen = { ...response, resources: response.resources.filter(({ content }) => content !== undefined) };
    if (!keepsOthers) this.seen.clear();
    this.#take(this.seen, seen.resources);
    lose(this.seen, seen.removed, this);
    if (!rejects) {
      this.#version = seen.version;
      this.#goodNonce = seen.nonce;
      if (this.#variant === "sotw") this.#accepted.clear();
      this.#take(this.#accepted, seen.resources);
      lose(this.#accepted, seen.removed, this);
    }
    const answer = this.#request({ nonce: seen.nonce, rejects });
    if (late) {
      this.#unanswered = answer;
      return undefined;
    }
    this.#unanswered = undefined;
    return answer;
  }

  #take(kept: Map<string, Content>, resources: SeenResponse["resources"]): void {
    for (const { name, content = "" } of resources) {
      if (this.#variant === "sotw" || this.wants(name, content)) kept.set(name, content);
      // It had it by an alias that is gone, and asks for the name no more.
      else kept.delete(name);
    }
  }

  /** The answer that was held back, with the names of now. */
  settle(): SentRequest | undefined {
    const unanswered = this.#unanswered;
    this.#unanswered = undefined;
    return unanswered === undefined
      ? undefined
      : this.#request({ nonce: unanswered.nonce, rejects: unanswered.rejects });
  }
}
