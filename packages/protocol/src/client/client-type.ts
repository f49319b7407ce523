import {
  canonicalName,
  isGlobName,
  type ResourceName,
  type ResourceType,
  redactErrorText,
  type Version,
} from "@xdskit/api";
import type { SentResponse } from "../messages/read-response.js";
import { statusCode } from "../server/contract.js";
import { Answers } from "./answers.js";
import { type Asking, createAsking } from "./asking.js";
import type {
  ClientStreamEffect,
  ClientStreamOptions,
  ClientTypeStatus,
  OutgoingRequest,
  TimeEvent,
} from "./contract.js";
import { DroppedNames } from "./dropped-names.js";
import { HeldResources, type HeldWeight } from "./held-resources.js";
import { LapsedNames } from "./lapsed-names.js";
import type { Limits } from "./limits.js";
import type { ReceivedResource } from "./received.js";
import type { BadResource } from "./rejection.js";
import { badResource, reasonsOf, rejectionText } from "./rejection.js";
import { Rejections } from "./rejections.js";
import { type BadPart, isHeartbeat, isPartial, type NamedResponse, ResponseReading } from "./response-reading.js";
import { noteRejections, takeErrors, takeFullState, takeRemovals, takeResources } from "./response-taking.js";
import { UpdateDraft } from "./update-draft.js";
import { WantedNames, wildcard } from "./wanted-names.js";

/** What all types of one client share. */
export interface ClientContext {
  readonly options: ClientStreamOptions;
  readonly limits: Limits;
  readonly absentAfterMs: number;
  /** Counts streams from 1; 0 where none was opened yet. */
  readonly stream: () => number;
  readonly isOpen: () => boolean;
  /** Of what is held of all types. */
  readonly weight: HeldWeight;
}

/** All that a client knows of one type: what is wanted, what is held, what the server was told and is still to be told. */
export class ClientType {
  readonly type: ResourceType;
  readonly wanted = new WantedNames();
  readonly #context: ClientContext;
  readonly #held: HeldResources;
  readonly #asking: Asking;
  readonly #answers = new Answers();
  readonly #reading: ResponseReading;
  readonly #rejections = new Rejections();
  /** Of the response that was accepted last; empty where nothing was, or the version is another server's. */
  #version: Version = "";
  /** What is held is what the server gave at that version: a reconnecting client may say that it has it (rule 37). */
  #isWhole = true;
  /** The stream on which something was lost of that, or kept as it was before. */
  #lostOn: number | undefined;
  #nonce = "";
  /** What the server of this stream knows to be asked for, whatever crosses its responses: the names of the first request, and what it sent. What is held is not in it. */
  #known = new Set<ResourceName>();
  readonly #dropped = new DroppedNames();
  readonly #lapsed = new LapsedNames();

  /** All was wanted and is no more, and the server cannot be told so (rule 50). */
  #isAllGivenUp = false;

  constructor(type: ResourceType, context: ClientContext) {
    const { variant, api, registry } = context.options;
    this.type = type;
    this.#context = context;
    this.#held = new HeldResources(context.weight);
    this.#asking = createAsking(type, variant, api);
    this.#reading = new ResponseReading(type, variant, registry);
  }

  /** Nobody wants anything of it, the server need be told nothing, and nothing is remembered. */
  get isEmpty(): boolean {
    return this.wanted.size === 0 && this.#held.size === 0 && !this.#context.isOpen();
  }

  get hasRequest(): boolean {
    const { isAsked, names } = this.#asking;
    return this.#answers.isReady || (names.isChanged && (isAsked || this.wanted.size > 0));
  }

  get deadline(): number | undefined {
    const due = this.wanted.nextDue;
    const expiry = this.#held.nextExpiry;
    return due === undefined || expiry === undefined ? (due ?? expiry) : Math.min(due, expiry);
  }

  subscribe(names: readonly ResourceName[], now: number): readonly ClientStreamEffect[] {
    let isUnheard = false;
    for (const name of names) {
      const key = canonicalName(name);
      const isHeld = this.#held.find(key) !== undefined;
      if (!this.wanted.add(name, isHeld ? "held" : "requested")) continue;
      // What came before was not all.
      if (key === wildcard) this.#isWhole = false;
      if (!this.#context.isOpen()) continue;
      this.#asking.names.add(key);
      this.wanted.wait(key, now + this.#context.absentAfterMs);
      this.#dropped.want(key);
      isUnheard ||= this.#isAllGivenUp && !isHeld;
    }
    if (!isUnheard) return [];
    const message = `in v2 ${this.type.name} that was given up comes again on another stream only`;
    return [{ kind: "close", code: statusCode.ok, message }];
  }

  unsubscribe(names: readonly ResourceName[]): void {
    for (const name of names) {
      const key = canonicalName(name);
      if (!this.wanted.delete(key)) continue;
      if (key === wildcard && this.#asking.isDeaf) this.#isAllGivenUp = true;
      this.#known.delete(key);
      this.#lapsed.delete(key);
      this.#rejections.delete(key);
      if (this.#context.isOpen()) {
        this.#asking.names.delete(key);
        if (this.#context.options.variant === "sotw" && this.#asking.isAsked) this.#dropped.drop(key);
        this.#dropped.settle(key);
      }
      this.#forget(key);
    }
  }

  /** What was held because of this name alone goes without a word. */
  #forget(key: ResourceName): void {
    const found = this.#held.find(key);
    const isCollection = key === wildcard || isGlobName(key);
    if (found === undefined && !isCollection) return;
    // What else is wanted is looked for among all that is held because of a collection.
    const lost = found === undefined ? [...this.#held] : [found];
    for (const { key: name, resource } of lost) {
      if (this.wanted.covers(name, resource.aliases)) continue;
      this.#held.delete(name);
    }
    if (this.#held.size === 0) this.#isWhole = false;
  }

  hold(resources: readonly ReceivedResource[], version: Version, now: number): void {
    this.#held.clear();
    this.#version = version;
    this.#isWhole = true;
    this.#lostOn = undefined;
    for (const resource of resources) {
      const key = canonicalName(resource.name);
      this.#held.set(key, resource, resource.version, 0, now);
      this.wanted.is(key, "held");
      for (const alias of resource.aliases) this.wanted.is(canonicalName(alias), "held");
    }
  }

  forgetVersions(): void {
    this.#version = "";
    for (const held of this.#held) held.claim = "";
  }

  opened(now: number): void {
    this.#asking.opened(this.wanted.keys());
    this.#reset();
    for (const key of this.wanted.keys()) {
      if (this.#held.find(key) === undefined) this.wanted.requestAgain(key);
      this.wanted.wait(key, now + this.#context.absentAfterMs);
    }
  }

  closed(): void {
    // Whether these are used nobody will say: the server is to send them again.
    if (this.#answers.size > 0 && !this.#settle()) this.#lose();
    this.#asking.opened([]);
    this.#reset();
    this.wanted.stopWaiting();
  }

  /** Takes what was decided but not sent for said; false where something was not decided. */
  #settle(): boolean {
    for (let answer = this.#answers.take(); answer !== undefined; answer = this.#answers.take()) {
      if (answer.error === undefined) this.#version = answer.version;
    }
    return this.#answers.size === 0;
  }

  #reset(): void {
    this.#answers.clear();
    this.#nonce = "";
    this.#known = new Set();
    this.#dropped.clear();
    this.#lapsed.clear();
    this.#isAllGivenUp = false;
  }

  time(now: number, { unread = false, unsent = false }: TimeEvent): readonly ClientStreamEffect[] {
    const draft = new UpdateDraft(this.type);
    // What keeps it alive may be among what is unread, and does not bring it back once it is gone.
    if (unread) this.#held.putOff(now);
    for (const { key, resource } of this.#held.takeExpired(now)) {
      draft.remove(key, resource.name, "ttl");
      // Who says to have this version would not get it back.
      this.#lose();
      if (this.#context.isOpen()) this.#lapsed.add(key);
      for (const name of [key, ...resource.aliases]) this.wanted.is(canonicalName(name), "absent");
    }
    for (const key of this.wanted.takeDue(now)) {
      if (unread || unsent) {
        this.wanted.wait(key, now + this.#context.absentAfterMs);
        continue;
      }
      this.wanted.is(key, "absent");
      draft.absent(key, this.wanted.spelled(key), "timer");
    }
    return updated(draft);
  }

  /** Undefined where this type was not asked for on this stream: such a response is ignored, since an answer would be a request (rule 165). */
  receive(sent: SentResponse, response: number, now: number): readonly ClientStreamEffect[] | undefined {
    if (!this.#asking.isAsked) return undefined;
    const { options, limits } = this.#context;
    this.#nonce = sent.nonce;
    const draft = new UpdateDraft(this.type);
    const { bad, good, keepsAlive } = this.#take(sent, draft, now);
    const told = options.answers === "when-told" && bad.length === 0;
    const head = { type: this.type, response, version: sent.version, nonce: sent.nonce };
    const effects: ClientStreamEffect[] = [
      { kind: "received", ...head, good, keepsAlive, awaitsAnswer: told },
      ...updated(draft),
    ];
    const error = bad.length === 0 ? undefined : rejectionText(bad, limits.errorCharacters);
    if (error !== undefined) effects.push({ kind: "rejected", ...head, message: error, bad });
    this.#answers.add({ response, nonce: sent.nonce, version: sent.version, error }, !told);
    if (this.#answers.size > mostAnswers) {
      const message = `the server sent ${mostAnswers} responses of ${this.type.name} and read no answer to any`;
      effects.push({ kind: "close", code: statusCode.resourceExhausted, message });
    }
    return effects;
  }

  #take(
    sent: SentResponse,
    draft: UpdateDraft,
    now: number,
  ): { readonly bad: readonly BadPart[]; readonly good: number; readonly keepsAlive: boolean } {
    const { options, limits, stream } = this.#context;
    const { type, wanted } = this;
    if (sent.count > limits.resourcesPerResponse) {
      const most = `${sent.count} resources in one response, and ${limits.resourcesPerResponse} are taken`;
      return this.#whole(badResource(type, undefined, "XDSKIT_UPDATE_REJECTED", most), sent, now);
    }
    const wrong = this.#wrongType(sent);
    if (wrong !== undefined) return this.#whole(badResource(type, undefined, "XDSKIT_TYPE_MISMATCH", wrong), sent, now);
    const named = this.#reading.read(sent, wanted);
    const { resourcesPerType, heldBytes } = limits;
    const held = this.#held;
    const taking = {
      type,
      options,
      resourcesPerType,
      heldBytes,
      wanted,
      held,
      draft,
      sent,
      named,
      now,
      rejections: this.#rejections,
      stream: stream(),
    };
    const isPart = isPartial(sent, named, this.#version);
    if (type.fullState && options.variant === "sotw" && !isPart) takeFullState(taking, this.#known);
    const refused = takeResources(taking);
    const bad = [...named.bad, ...refused];
    noteRejections(taking, bad);
    for (const { name } of bad) if (name !== undefined) this.#cameBadly(canonicalName(name));
    takeRemovals(taking);
    takeErrors(taking, bad);
    this.wanted.is(wildcard, "held");
    if (bad.length === 0) this.#rejections.mended();
    // What is no full state says nothing of what was lost: that comes on another stream, which is asked without a version.
    const isAll = type.fullState || this.#lostOn !== stream();
    if (bad.length === 0 && !isPart && isAll) this.#isWhole = true;
    else if (!draft.isEmpty) this.#lose();
    this.#repeatUnsure();
    this.#askForLapsed(named);
    const keepsAlive = named.resources.some(({ sent }) => sent.ttl !== undefined);
    return { bad, good: named.resources.length - refused.length, keepsAlive };
  }

  /** Nothing of it is taken. */
  #whole(bad: BadResource, { version }: SentResponse, at: number) {
    this.#rejections.set(undefined, { version, message: reasonsOf(bad.findings), at });
    return { bad: [{ ...bad, index: undefined, version: "" }], good: 0, keepsAlive: false };
  }

  #wrongType({ typeUrl }: SentResponse): string | undefined {
    const { typeUrl: v3, v2TypeUrl: v2 } = this.type;
    if (typeUrl === "" || typeUrl === v3 || typeUrl === v2) return undefined;
    return `the response's type is ${typeUrl.slice(0, 200)}, and ${v3} was asked for`;
  }

  /** The server knows that it is asked for, unless it came because of what was asked before. */
  #cameBadly(key: ResourceName): void {
    if (!this.#dropped.settle(key) && this.wanted.has(key)) this.#known.add(key);
  }

  /**
   * The server may not have seen that a name was dropped: it ignores what crosses a response (rule 27), and sends nothing to whom it thinks to have it. So that is said
   * once more with the answer, a few times at most.
   */
  #repeatUnsure(): void {
    const isThere = (key: ResourceName) =>
      this.#held.find(key) !== undefined || (key === wildcard && this.type.fullState);
    for (const key of this.#dropped.takeRepeats(isThere)) this.#asking.names.repeat(key);
  }

  /** What the server keeps alive although its time was over here. */
  #askForLapsed({ resources }: NamedResponse): void {
    const { variant, api } = this.#context.options;
    const { names, isDeaf } = this.#asking;
    for (const named of resources) {
      const { key } = named;
      if (!isHeartbeat(named)) this.#lapsed.delete(key);
      else if (this.wanted.covers(key, []) && !isDeaf && this.#lapsed.revives(key)) {
        if (this.wanted.has(key)) names.repeat(key);
        else if (variant === "delta" && api === "v3") names.once(key);
      }
    }
  }

  decide(response: number, error: string | undefined): void {
    const { errorCharacters } = this.#context.limits;
    const told = error === undefined ? undefined : redactErrorText(error).slice(0, errorCharacters);
    const isDecided = this.#answers.decide(response, told);
    // It stays, at a version that the server takes for rejected.
    if (isDecided && told !== undefined) this.#lose();
  }

  #lose(): void {
    this.#isWhole = false;
    this.#lostOn = this.#context.stream();
  }

  /** The next request of this type; `node` is sent with it, or undefined. */
  next(node: Uint8Array | undefined): OutgoingRequest | undefined {
    if (!this.hasRequest) return undefined;
    const { variant, api } = this.#context.options;
    const isFirst = !this.#asking.isAsked;
    const answer = isFirst ? undefined : this.#answers.take();
    if (answer !== undefined && answer.error === undefined) this.#version = answer.version;
    // Only what a full state lacks does not exist.
    if (isFirst && this.type.fullState && variant === "sotw") this.#known = new Set(this.wanted.keys());
    // SotW says which response it saw last; delta only which one it answers (the comment of `response_nonce`).
    const nonce = answer?.nonce ?? (variant === "sotw" ? this.#nonce : "");
    const { typeUrl: v3, v2TypeUrl: v2 } = this.type;
    const typeUrl = api === "v2" ? (v2 ?? v3) : v3;
    const bytes = this.#asking.request({
      head: { typeUrl, node, nonce, error: answer?.error },
      version: isFirst && !this.#isWhole ? "" : this.#version,
      spelled: (key) => this.wanted.spelled(key),
      claims: () => this.#claims(),
    });
    return {
      type: this.type,
      bytes,
      kind: answer === undefined ? "subscribe" : answer.error === undefined ? "ack" : "nack",
    };
  }

  *#claims(): Iterable<readonly [name: ResourceName, version: Version]> {
    for (const { key, resource, claim } of this.#held) {
      if (this.wanted.covers(key, resource.aliases)) yield [resource.name, claim];
    }
  }

  status(): ClientTypeStatus {
    const { type, wanted } = this;
    const held = this.#held;
    return {
      type,
      wildcard: wanted.isWildcard,
      names: [...wanted.keys()].filter((key) => key !== wildcard).map((key) => wanted.spelled(key)),
      version: this.#version === "" ? undefined : this.#version,
      isWhole: this.#isWhole && this.#answers.size === 0,
      resources: held.resources,
      updatedAt: (name) => held.find(canonicalName(name))?.at,
      rejection: (name) => this.#rejections.get(name === undefined ? undefined : canonicalName(name)),
      states: (name) => {
        const key = canonicalName(name);
        if (this.#rejections.get(key) !== undefined) return "rejected";
        return wanted.stateOf(key) ?? (held.find(key) === undefined ? "absent" : "held");
      },
    };
  }
}

/** More answers than this wait for a server that does not read. */
const mostAnswers = 1_000;

/** All of a response is bad. */
function updated(draft: UpdateDraft): readonly ClientStreamEffect[] {
  const update = draft.finish();
  return update === undefined ? [] : [{ kind: "update", update }];
}
