import type { SotwOrDelta } from "../../wire/basics/sotw-or-delta.js";
import type { Content } from "../sample-resources.js";
import type { SeenResponse } from "../wire.js";
import { aliasesOf, bearersOf, type Contents, isAlias, lose } from "./model-aliases.js";

/** A request as the model understands it, after it was delivered. */
export interface ModelRequest {
  readonly names: readonly string[];
  readonly version: string;
  readonly nonce: string;
  readonly subscribe: readonly string[];
  readonly unsubscribe: readonly string[];
  /** Delta, first request: the client's claims; `?` for an unknown version. */
  readonly has: ReadonlyMap<string, Content>;
}

/**
 * The other effects of a request besides its names. `stale`, and `crossed` (it answers a response that a heartbeat
 * crossed): its names do not count. `answer`: it answers a response for the first time. `earlier`: it comes with an old
 * nonce after the last response was answered, so only its names count.
 */
export type ExpectedEffect = "stale" | "crossed" | "answer" | "earlier" | undefined;

/** The types with an implicit wildcard, whose SotW responses hold everything (rules 38, 60; Envoy on the wire, 5). */
export const wholeTypes: ReadonlySet<string> = new Set(["cluster", "listener", "scoped-route"]);

/**
 * A server's duties to one client for one type on one stream: the rules, as simply as possible, whatever the cost.
 * `must` has to be sent before the stream is in sync; `may` can be sent although the client seems to have it.
 */
export class ModelSubscriber {
  readonly type: string;
  readonly #delta: boolean;
  readonly #whole: boolean;
  #asked = false;
  wildcard = false;
  names: ReadonlySet<string> = new Set();
  /** What stale requests since the last one that counted have left of these (rules 27, 70); undefined: all. */
  #kept: { readonly wildcard: boolean; readonly names: ReadonlySet<string> } | undefined;
  /** The client's resources, as far as the server can know. */
  readonly sent = new Map<string, Content>();
  /** Names; true if the absence of a resource must be reported too (delta). */
  readonly #must = new Map<string, boolean>();
  readonly #may = new Set<string>();
  #mayAll = false;
  /** The whole set is due, changed or not. */
  #due = false;
  /** An empty response is allowed: the subscription is fresh. */
  #mayBeEmpty = false;
  #isImplicit = false;
  /** The version that a pure wildcard came with, while it is not answered. */
  #claimed: string | undefined;
  readonly nonces: string[] = [];
  readonly #answers = new Set<string>();
  /** It is told TTLs. */
  readonly #told: boolean;
  /** SotW: the response before heartbeats that was unanswered when the first of them went out; its answer counts. */
  #crossed: string | undefined;
  /** The resources with a TTL in each response; none for heartbeats without bodies. */
  readonly #perishable = new Map<string, ReadonlyMap<string, Content>>();
  /** The resources of heartbeats without bodies. */
  readonly #bare = new Map<string, ReadonlyMap<string, Content>>();
  /** The last contents that were sent in a rejected response. */
  readonly #rejected = new Map<string, Content>();
  /** The names in each response, if that is not everything. */
  readonly #spoken = new Map<string, readonly string[]>();
  /** Resources of a rejected response that may be innocent: they may come again, once (interop 9). */
  readonly #again = new Set<string>();
  /** Heartbeats that may come. */
  #beats = 0;

  constructor(type: string, variant: SotwOrDelta, told: boolean) {
    this.type = type;
    this.#told = told;
    this.#delta = variant === "delta";
    this.#whole = !this.#delta && wholeTypes.has(type);
  }

  /** No request has come yet. */
  get fresh(): boolean {
    return !this.#asked;
  }

  get interested(): boolean {
    return this.wildcard || this.names.size > 0;
  }

  /** It asked for a resource of this content by its name or by an alias. */
  wants(name: string, content: Content | undefined): boolean {
    return this.wildcard || this.names.has(name) || aliasesOf(content).some((alias) => this.names.has(alias));
  }

  #wanted(there: Contents): Map<string, Content> {
    return new Map([...there].filter(([name, content]) => this.wants(name, content)));
  }

  /** The last response was answered. */
  get isAnswered(): boolean {
    return this.#answers.has(this.nonces.at(-1) ?? "");
  }

  /** The effect that the request must have. */
  effectOf(nonce: string, rejects: boolean): ExpectedEffect {
    // Whatever was sent since.
    if (rejects) for (const name of this.#spoken.get(nonce) ?? []) this.#again.add(name);
    const crossed = !this.#delta && nonce !== "" && nonce === this.#crossed;
    const known = this.#delta ? this.nonces.includes(nonce) : nonce === this.nonces.at(-1) || crossed;
    if (!this.#delta && this.nonces.length > 0 && nonce !== "" && !known)
      return this.isAnswered && this.nonces.includes(nonce) ? "earlier" : "stale";
    if (!known || this.#answers.has(nonce)) return undefined;
    this.#answers.add(nonce);
    this.#crossed = undefined;
    for (const [name, content] of this.#perishable.get(nonce) ?? []) {
      if (rejects && !this.#isSentAgain(nonce, name, content)) this.#rejected.set(name, content);
      else if (this.#rejected.get(name) === content) this.#rejected.delete(name);
    }
    // A client that rejects a heartbeat without a body has lost its resource, and gets the whole; a client that accepts
    // it has it.
    for (const [name, content] of this.#bare.get(nonce) ?? []) {
      if (!rejects && this.#rejected.get(name) === content) this.#rejected.delete(name);
      if (rejects && this.sent.get(name) === content && this.wants(name, content) && !this.#must.has(name))
        this.#must.set(name, false);
    }
    return crossed ? "crossed" : "answer";
  }

  /** A later response has it too, and gets its own answer. */
  #isSentAgain(nonce: string, name: string, content: Content): boolean {
    const later = this.nonces.slice(this.nonces.indexOf(nonce) + 1).filter((one) => !this.#answers.has(one));
    return later.some((one) => this.#perishable.get(one)?.get(name) === content);
  }

  /** Time went by for heartbeats. */
  beat(): void {
    this.#beats = 1;
  }

  /** Checks a heartbeat: it has resources that the client has and nothing else. */
  heartbeat({ nonce, resources }: SeenResponse, there: Contents): void {
    if (!this.#told) throw new Error("a heartbeat for a client that is not told TTLs (rules 127, 129)");
    if (this.#beats === 0) throw new Error("a heartbeat before its time, or one more");
    this.#beats -= 1;
    if (!this.#delta && this.#crossed === undefined) {
      const before = this.nonces.at(-1);
      if (before !== undefined && !this.#answers.has(before)) this.#crossed = before;
    }
    this.nonces.push(nonce);
    this.#perishable.set(nonce, this.#perishableIn(resources.filter(({ content }) => content !== undefined)));
    const bare = resources.filter(({ content }) => content === undefined);
    this.#bare.set(nonce, new Map(bare.map(({ name }) => [name, this.sent.get(name) ?? ""])));
    for (const { name, content, ttl } of resources) {
      const has = this.sent.get(name);
      if (has === undefined || has !== there.get(name))
        throw new Error(`a heartbeat for ${name}, of which it has ${has}`);
      if (content !== undefined && content !== has)
        throw new Error(`a heartbeat with ${name}=${content} and not ${has}`);
      if (content === undefined && !this.#delta) throw new Error("a bare heartbeat in SotW (Envoy on the wire, 3)");
      if (ttl === undefined && !this.#whole) throw new Error(`a heartbeat for ${name}, which has no TTL (rule 132)`);
      if (!this.wants(name, has)) throw new Error(`a heartbeat for ${name}, which was not asked for`);
      if (this.#rejected.get(name) === has) throw new Error(`a heartbeat for ${name}, which was rejected`);
    }
    if (this.#whole && resources.length !== this.#wanted(there).size)
      throw new Error("a heartbeat that is not the whole set");
  }

  #perishableIn(resources: SeenResponse["resources"]): ReadonlyMap<string, Content> {
    const found = resources.filter(({ ttl }) => ttl !== undefined);
    return new Map(found.map(({ name, content = "" }) => [name, content]));
  }

  /** SotW: the request does not count, and the client has dropped what it leaves out. */
  leavesOut(request: ModelRequest): void {
    if (this.#delta || !this.nonces.includes(request.nonce)) return;
    const { wildcard, names } = this.#kept ?? this;
    const explicit = request.names.includes("*");
    const implicit = request.names.length === 0 && this.wildcard && this.#isImplicit;
    const left = [...names].filter((name) => request.names.includes(name));
    this.#kept = { wildcard: wildcard && (explicit || implicit), names: new Set(left) };
  }

  /** The request repeats the subscription. */
  repeats({ names }: ModelRequest): boolean {
    const explicit = new Set(names.filter((name) => name !== "*"));
    const wildcard = names.includes("*") || (names.length === 0 && this.wildcard && this.#isImplicit);
    return this.wildcard === wildcard && sameNames(explicit, this.names);
  }

  /**
   * A request that is not stale. `version` is that of the type's current set. `asksAgain`: the last response was
   * answered before, and something that refers to this type was sent since.
   */
  request(request: ModelRequest, there: Contents, version: string, asksAgain: boolean): void {
    const first = !this.#asked;
    this.#asked = true;
    if (first || this.#isFresh(request) || request.subscribe.includes("*")) this.#mayBeEmpty = true;
    if (this.#delta) this.#requestDelta(request, there, first);
    else this.#requestSotw(request, there, first, version, asksAgain);
  }

  #requestSotw(request: ModelRequest, there: Contents, first: boolean, version: string, asksAgain: boolean): void {
    const asked = { wildcard: this.wildcard, names: this.names };
    const before = this.#kept ?? asked;
    this.#kept = undefined;
    const explicit = new Set(request.names.filter((name) => name !== "*"));
    const star = request.names.includes("*");
    // Rules 38, 43, 46: no names are the wildcard until any name was given.
    const isImplicit =
      request.names.length === 0 && (first ? wholeTypes.has(this.type) : asked.wildcard && this.#isImplicit);
    this.#isImplicit = isImplicit;
    this.wildcard = star || isImplicit;
    this.names = explicit;
    if (first) {
      // Rule 33: a pure wildcard at the current version has everything.
      this.#due = true;
      if (this.#whole && this.wildcard && explicit.size === 0) this.#claimed = request.version;
      this.#honourClaim(there, version);
      return;
    }
    const same = [asked, before].every(
      ({ wildcard, names }) => this.wildcard === wildcard && sameNames(explicit, names),
    );
    if (!same) this.#claimed = undefined;
    if (this.wildcard && !before.wildcard) this.#mayBeEmpty = true;
    if (this.#whole) {
      const within = before.wildcard && this.wildcard;
      if (!same && !within && this.interested) this.#due = true;
      else if (!same) this.#mayAll = true;
    } else {
      for (const name of explicit) if (!before.names.has(name)) this.#must.set(name, false);
      if (this.wildcard && !before.wildcard) for (const name of there.keys()) this.#must.set(name, false);
      if (this.#isFresh(request) && !same) for (const name of explicit) this.#must.set(name, false);
      if (this.#isFresh(request) && !same) this.#mayAll = true;
      // Rule 123: an identical request may be for something that is warming.
      if (asksAgain && same) for (const name of this.#wanted(there).keys()) this.#must.set(name, false);
    }
    this.#forgetUnwanted(there);
  }

  /** Rule 30: before the first response every nonce is of another stream. */
  #isFresh({ nonce }: ModelRequest): boolean {
    return nonce === "" || this.nonces.length === 0;
  }

  #honourClaim(there: Contents, version: string): void {
    if (this.#claimed !== version) return;
    // A version does not tell which resources a TTL removed.
    if (this.#told && [...there.values()].some((content) => content.includes("~"))) return;
    this.#claimed = undefined;
    this.#due = false;
    for (const [name, content] of there) this.sent.set(name, content);
  }

  #requestDelta(request: ModelRequest, there: Contents, first: boolean): void {
    const { subscribe, unsubscribe, has } = request;
    const silent = subscribe.length === 0 && unsubscribe.length === 0;
    if (first && silent && wholeTypes.has(this.type)) this.wildcard = true;
    const names = new Set(this.names);
    for (const name of subscribe) {
      if (name === "*") {
        this.wildcard = true;
        if (!first) for (const one of there.keys()) if (!this.#must.has(one)) this.#must.set(one, false);
      } else {
        names.add(name);
        // Rule 86: even if the client has it; on a first request its claims count (rule 105).
        const bearers = bearersOf(name, there);
        const claimed = bearers.length === 0 ? has.has(name) : bearers.every((bearer) => has.has(bearer));
        if (!first || !claimed) this.#must.set(name, true);
        else this.#may.add(name);
      }
    }
    for (const name of unsubscribe) {
      if (name === "*") this.wildcard = false;
      else if (!names.delete(name)) this.#may.add(name);
      else if (this.wildcard)
        this.#must.set(name, true); // Rules 97, 98.
      else {
        // Another word may ask for the same resource, and is pending by itself.
        this.#must.delete(name);
        this.#may.add(name);
      }
    }
    this.names = names;
    if (first) for (const [name, content] of has) if (this.wants(name, content)) this.sent.set(name, content);
    this.#forgetUnwanted(there);
  }

  #forgetUnwanted(there: Contents): void {
    for (const [name, content] of this.sent) if (!this.wants(name, content)) this.sent.delete(name);
    for (const word of this.#must.keys()) if (!this.wants(word, there.get(word))) this.#must.delete(word);
  }

  /** The server must send this name if the client wants it: its cluster was sent (rules 121–124). */
  warm(name: string, there: Contents, must: boolean): void {
    if (!this.wants(name, there.get(name))) return;
    this.#may.add(name);
    if (must && there.has(name) && !this.#must.has(name)) this.#must.set(name, false);
  }

  /** A resource went away, perhaps to come back: then it may be sent again. */
  gone(name: string): void {
    this.#may.add(name);
  }

  /** Checks a response against the resources, and remembers it. Returns the parts that are new to the client. */
  response(seen: SeenResponse, there: Contents): readonly string[] {
    if (this.nonces.includes(seen.nonce)) throw new Error(`nonce ${seen.nonce} came twice (rule 3)`);
    this.nonces.push(seen.nonce);
    this.#crossed = undefined;
    const perishable = this.#perishableIn(seen.resources);
    this.#perishable.set(seen.nonce, perishable);
    for (const [name, content] of perishable) if (this.#rejected.get(name) === content) this.#rejected.delete(name);
    for (const { name, content } of seen.resources) {
      if (content === undefined) throw new Error(`${name} is unresolved`);
      if (there.get(name) !== content) throw new Error(`${name}=${content} is sent, but it is ${there.get(name)}`);
      if (!this.wants(name, content)) throw new Error(`${name} is sent, but was not asked for`);
    }
    const news = seen.resources.filter(({ name, content }) => this.sent.get(name) !== content).map(({ name }) => name);
    if (this.#whole) this.#wholeResponse(seen, there);
    else this.#partialResponse(seen, there, new Set(news));
    const names = seen.resources.map(({ name }) => name);
    for (const name of [...names, ...seen.removed]) this.#again.delete(name);
    // A single resource is the one to blame.
    if (!this.#whole) this.#spoken.set(seen.nonce, [...(names.length > 1 ? names : []), ...seen.removed]);
    this.#mayBeEmpty = false;
    this.#claimed = undefined;
    return news;
  }

  #wholeResponse(seen: SeenResponse, there: Contents): void {
    const wanted = this.#wanted(there);
    if (seen.resources.length !== wanted.size)
      throw new Error(`not the whole set (rule 60): want ${[...wanted.keys()]}`);
    if (!this.interested) throw new Error("a response to a client that is not interested");
    if (!this.#due && !this.#mayAll && sameContents(this.sent, wanted))
      throw new Error("nothing changed and nothing was asked for");
    this.sent.clear();
    for (const [name, content] of wanted) this.sent.set(name, content);
    this.#due = false;
    this.#must.clear();
  }

  #partialResponse(seen: SeenResponse, there: Contents, news: ReadonlySet<string>): void {
    const words = (name: string) => [name, ...aliasesOf(there.get(name))];
    const excused = (name: string) =>
      this.#due ||
      this.#mayAll ||
      this.#again.has(name) ||
      words(name).some((word) => this.#must.has(word) || this.#may.has(word));
    for (const { name } of seen.resources) {
      if (!news.has(name) && !excused(name)) throw new Error(`${name} is sent, but has not changed and is not pending`);
    }
    for (const name of seen.removed) {
      if (this.#wanted(there).has(name)) throw new Error(`${name} is removed, but it is there`);
      // While an alias is unanswered, the server may mention resources that had it and lost it since: harmless, since
      // the client does not have them.
      const hadAlias = [...this.#must.keys()].some(isAlias);
      if (!this.sent.has(name) && !excused(name) && !hadAlias)
        throw new Error(`${name} is removed, but the client does not have it`);
    }
    // Rule 59, and its like for SotW: a wildcard over nothing is answered, so that the client goes on.
    const empty = seen.resources.length + seen.removed.length === 0;
    if (empty && !(this.wildcard && this.#mayBeEmpty)) throw new Error("an empty response that says nothing");
    for (const { name, content } of seen.resources) this.sent.set(name, content ?? "");
    lose(this.sent, seen.removed, this);
    for (const name of [...seen.resources.map((resource) => resource.name), ...seen.removed]) {
      for (const word of words(name)) {
        this.#must.delete(word);
        this.#may.delete(word);
      }
    }
  }

  /** Checks that nothing is pending: the machine says that the client lacks nothing. */
  atRest(there: Contents, version: string): void {
    this.#honourClaim(there, version);
    const wanted = this.#wanted(there);
    for (const [name, content] of wanted) {
      if (this.sent.get(name) !== content)
        throw new Error(`${this.type} ${name}=${content} was not sent (client: ${this.sent.get(name)})`);
    }
    for (const [name, saidIfAbsent] of this.#must) {
      if (bearersOf(name, wanted).length > 0 || (this.#delta && saidIfAbsent)) {
        throw new Error(`${this.type} ${name} is pending and was not sent`);
      }
    }
    if (this.#whole && this.interested && this.#due) throw new Error(`all of ${this.type} is pending and was not sent`);
    if (this.#whole || this.#delta) {
      for (const [name, content] of this.sent)
        if (this.wants(name, content) && !wanted.has(name)) throw new Error(`${this.type} ${name} was not removed`);
    } else for (const name of this.sent.keys()) if (!wanted.has(name)) this.sent.delete(name);
    this.#must.clear();
    this.#may.clear();
    this.#mayAll = false;
    this.#due = false;
  }
}

function sameNames(a: ReadonlySet<string>, b: ReadonlySet<string>): boolean {
  return a.size === b.size && [...a].every((name) => b.has(name));
}

function sameContents(a: Contents, b: Contents): boolean {
  return a.size === b.size && [...a].every(([name, content]) => b.get(name) === content);
}
