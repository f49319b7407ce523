import {
  canonicalName,
  isGlobName,
  maxKept,
  type ResourceName,
  type ResourceType,
  redactErrorText,
  type Steps,
  type Version,
} from "@xdskit/api";
import { statusCode } from "../wire/basics/status-code.js";
import type { SentResponse } from "../wire/responses/read-response.js";
import { WantedNames, wildcard } from "./asked/wanted-names.js";
import type {
  ClientStreamEffect,
  ClientStreamEvent,
  ClientStreamOptions,
  ClientTypeStatus,
  OutgoingRequest,
  TimeEvent,
} from "./contract/contract.js";
import type { Limits } from "./contract/limits.js";
import type { BadResource } from "./contract/rejection.js";
import { badResource, reasonsOf, rejectionText } from "./contract/rejection.js";
import { HeldResources, type HeldWeight } from "./held/held-resources.js";
import { UpdateDraft } from "./held/update-draft.js";
import { Rejections } from "./taken/rejections.js";
import { type BadPart, isPartial, ResponseReading } from "./taken/response-reading.js";
import {
  type ArrivedResponse,
  type Judged,
  judgeAll,
  noteRejections,
  takeAbsence,
  takeErrors,
  takeFullState,
  takeRemovals,
  takeResources,
} from "./taken/response-taking.js";
import { TypeStream } from "./type-stream.js";

/** The parts that all types of one client share. */
interface ClientContext {
  readonly options: ClientStreamOptions;
  readonly limits: Limits;
  readonly absentAfterMs: number;
  /** Counts streams from 1; 0 if none was opened yet. */
  readonly stream: () => number;
  readonly isOpen: () => boolean;
  /** The weight of everything that is held, of all types. */
  readonly weight: HeldWeight;
}

/**
 * A client's subscription and resources of one type, over all its streams; `TypeStream` has the state of one stream.
 */
export class ClientType {
  readonly type: ResourceType;
  readonly wanted = new WantedNames();
  readonly #context: ClientContext;
  readonly #held: HeldResources;
  #stream: TypeStream;
  readonly #reading: ResponseReading;
  readonly #rejections = new Rejections();
  /** The version of the last accepted response; empty if there is none, or if it is another server's. */
  #version: Version = "";
  /** The client holds the server's resources of that version: after a reconnect it may claim it (rule 37). */
  #isWhole = true;
  /** The stream on which a part of that was lost, or kept in its earlier state. */
  #lostOn: number | undefined;
  /** What that version is of, if it is from elsewhere: no response was taken since. */
  #heldFor: "all" | "names" | undefined;

  constructor(type: ResourceType, context: ClientContext) {
    const { options } = context;
    this.type = type;
    this.#context = context;
    this.#held = new HeldResources(context.weight);
    this.#stream = this.#newStream([]);
    this.#reading = new ResponseReading(type, options.variant, options.registry);
  }

  /** Nobody wants anything of the type, the server need not be told anything, and nothing is remembered. */
  get isEmpty(): boolean {
    return this.wanted.size === 0 && this.#held.size === 0 && !this.#context.isOpen();
  }

  get hasRequest(): boolean {
    return this.#stream.hasRequest(this.wanted);
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
      const found = this.#held.find(key);
      const isHeld = found !== undefined;
      if (!this.wanted.add(name, isHeld ? "held" : "requested")) continue;
      // The previous content was not everything.
      if (key === wildcard ? this.#heldFor !== "all" : this.#heldFor !== undefined && !isHeld) this.#isWhole = false;
      // A response came since, at a newer version, and this server was not asked for the name.
      else if (this.#heldFor === undefined && found?.stream === fromElsewhere) this.#lose();
      if (!this.#context.isOpen()) continue;
      this.#stream.want(key);
      this.#wait(key, now);
      isUnheard ||= this.#stream.isAllGivenUp && !isHeld;
    }
    if (!isUnheard) return [];
    const message = `in v2 ${this.type.name} that was given up comes again on another stream only`;
    return [{ kind: "close", code: statusCode.ok, message }];
  }

  /** Waits for a name of which nothing is known yet, or only from elsewhere: this server may not have it. */
  #wait(key: ResourceName, now: number): void {
    const due = now + this.#context.absentAfterMs;
    const found = this.#held.find(key);
    if (found === undefined) this.wanted.wait(key, due);
    else if (this.#isFullState && found.stream !== this.#context.stream()) this.wanted.waitForHeld(key, due);
  }

  get #isFullState(): boolean {
    return this.type.fullState && this.#context.options.variant === "sotw";
  }

  unsubscribe(names: readonly ResourceName[]): void {
    for (const name of names) {
      const key = canonicalName(name);
      if (!this.wanted.delete(key)) continue;
      this.#stream.drop(key);
      this.#rejections.delete(key);
      this.#forget(key);
    }
  }

  /** Drops silently the resources that were held because of this name alone. */
  #forget(key: ResourceName): void {
    const found = this.#held.find(key);
    const isCollection = key === wildcard || isGlobName(key);
    if (found === undefined && !isCollection) return;
    // Other wanted names are found among everything that a collection brought.
    const lost = found === undefined ? [...this.#held] : [found];
    for (const { key: name, resource } of lost) {
      if (this.wanted.covers(name, resource.aliases)) continue;
      this.#held.delete(name);
    }
    if (this.#held.size === 0) this.#isWhole = false;
    if (this.#heldFor === "all") this.#heldFor = "names";
  }

  hold({ resources, version, isAll = false }: HoldEvent, now: number): void {
    this.#held.clear();
    this.#version = version;
    this.#isWhole = true;
    this.#lostOn = undefined;
    this.#heldFor = isAll ? "all" : "names";
    for (const resource of resources) {
      const key = canonicalName(resource.name);
      this.#held.set(key, resource, resource.version, fromElsewhere, now);
      this.wanted.is(key, "held");
      for (const alias of resource.aliases) this.wanted.is(canonicalName(alias), "held");
    }
  }

  forgetVersions(): void {
    this.#version = "";
    for (const held of this.#held) held.claim = "";
  }

  opened(now: number): void {
    this.#stream = this.#newStream(this.wanted.keys());
    for (const key of this.wanted.keys()) {
      if (this.#held.find(key) === undefined) this.wanted.requestAgain(key);
      this.wanted.wait(key, now + this.#context.absentAfterMs);
    }
  }

  closed(): void {
    // No decision will come about these responses: the server must send them again.
    if (this.#stream.answers.size > 0 && !this.#settle()) this.#lose();
    this.#stream = this.#newStream([]);
    this.wanted.stopWaiting();
  }

  /** Treats decisions that were not sent as sent; false if one is missing. */
  #settle(): boolean {
    const { answers } = this.#stream;
    for (let answer = answers.take(); answer !== undefined; answer = answers.take()) {
      if (answer.error === undefined) this.#version = answer.version;
    }
    return answers.size === 0;
  }

  #newStream(wanted: Iterable<ResourceName>): TypeStream {
    return new TypeStream(this.type, this.#context.options, wanted);
  }

  time(now: number, { unread = false, unsent = false }: TimeEvent): readonly ClientStreamEffect[] {
    const draft = new UpdateDraft(this.type);
    // A heartbeat may be among the unread responses, and would not bring back a dropped resource.
    if (unread) this.#held.putOff(now);
    for (const { key, resource } of this.#held.takeExpired(now)) {
      draft.remove(key, resource.name, "ttl");
      // A server would not send it again to a client that claims this version.
      this.#lose();
      this.#stream.lapse(key);
      for (const name of [key, ...resource.aliases]) this.wanted.is(canonicalName(name), "absent");
    }
    for (const key of this.wanted.takeDue(now)) {
      if (unread || unsent || this.#stream.holdsNames) {
        this.#wait(key, now);
        continue;
      }
      if (this.#held.find(key) !== undefined) {
        this.#unseen(key, draft);
        continue;
      }
      this.wanted.is(key, "absent");
      draft.absent(key, this.wanted.spelled(key), "timer");
    }
    return updated(draft);
  }

  /** A held resource that was asked for on this stream did not come. Silence alone says nothing; a full state does. */
  #unseen(key: ResourceName, draft: UpdateDraft): void {
    const { options } = this.#context;
    if (!this.#stream.lacking.has(key)) this.#stream.knows(key);
    else takeAbsence(key, { wanted: this.wanted, held: this.#held, rejections: this.#rejections, draft, options });
  }

  /**
   * Undefined if this type was not asked for on this stream: such a response is ignored, since an answer would be a
   * request (rule 165).
   */
  receive(sent: ArrivedResponse, response: number, now: number): readonly ClientStreamEffect[] | undefined {
    if (!this.#stream.isAsked) return undefined;
    const { options, limits } = this.#context;
    this.#stream.nonce = sent.nonce;
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
    const { answers } = this.#stream;
    answers.add({ response, nonce: sent.nonce, version: sent.version, error }, !told);
    // Answers may wait for the decision on the first of them, and then for a server that does not read them.
    if (answers.size > maxKept / 2 && !answers.isReady) answers.decideOldest();
    if (answers.size > maxKept) {
      const message = `the server sent ${maxKept} responses of ${this.type.name} and read no answer to any`;
      effects.push({ kind: "close", code: statusCode.resourceExhausted, message });
    }
    return effects;
  }

  /** Judges the resources that `receive` would take, into `judged`. */
  *prepare(sent: SentResponse, judged: Map<number, Judged>, forServer: boolean): Steps<void> {
    const { options, limits } = this.#context;
    if (!this.#stream.isAsked || sent.count > limits.resourcesPerResponse || this.#wrongType(sent)) return;
    const named = this.#reading.read(sent, this.wanted);
    yield* judgeAll(
      { type: this.type, options, sent, named, wanted: this.wanted, held: this.#held },
      judged,
      forServer,
    );
  }

  #take(
    sent: ArrivedResponse,
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
    const place = { type, options, wanted, held, rejections: this.#rejections, stream: stream() };
    const taking = { resourcesPerType, heldBytes, draft, sent, named, now, ...place };
    const isPart = isPartial(sent, named, this.#version);
    if (this.#isFullState && !isPart) takeFullState(taking, this.#stream);
    const refused = takeResources(taking);
    const bad = [...named.bad, ...refused];
    noteRejections(taking, bad);
    for (const { name } of bad) if (name !== undefined) this.#stream.cameBadly(canonicalName(name), wanted);
    takeRemovals(taking);
    takeErrors(taking, bad);
    this.wanted.is(wildcard, "held");
    if (bad.length === 0) this.#rejections.forgetUnnamed();
    // A response that is no full state does not name the lost resources. Lost resources come on another stream, which
    // asks without a version.
    const isAll = type.fullState || this.#lostOn !== stream();
    if (bad.length === 0) this.#heldFor = undefined;
    if (bad.length === 0 && !isPart && isAll) this.#isWhole = true;
    else if (!draft.isEmpty) this.#lose();
    this.#stream.repeatUnsure((key) => held.find(key) !== undefined || (key === wildcard && type.fullState));
    this.#stream.askForLapsed(named, wanted);
    const keepsAlive = named.resources.some(({ sent }) => sent.ttl !== undefined);
    return { bad, good: named.resources.length - refused.length, keepsAlive };
  }

  /** Rejects the whole response. */
  #whole(bad: BadResource, { version }: SentResponse, at: number) {
    this.#rejections.set(undefined, { version, message: reasonsOf(bad.findings), at });
    return { bad: [{ ...bad, index: undefined, version: "" }], good: 0, keepsAlive: false };
  }

  #wrongType({ typeUrl }: SentResponse): string | undefined {
    const { typeUrl: v3, v2TypeUrl: v2 } = this.type;
    if (typeUrl === "" || typeUrl === v3 || typeUrl === v2) return undefined;
    return `the response's type is ${typeUrl.slice(0, 200)}, and ${v3} was asked for`;
  }

  decide(response: number, error: string | undefined): void {
    const { errorCharacters } = this.#context.limits;
    const told = error === undefined ? undefined : redactErrorText(error).slice(0, errorCharacters);
    const isDecided = this.#stream.answers.decide(response, told);
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
    const isFirst = !this.#stream.isAsked;
    const answer = this.#stream.takeAnswer();
    if (answer !== undefined && answer.error === undefined) this.#version = answer.version;
    // Before any answer, each request replaces the last.
    const isFresh = isFirst || (this.#heldFor !== undefined && answer === undefined && this.#stream.nonce === "");
    const version = isFresh && !this.#isWhole ? "" : this.#version;
    return this.#stream.request(answer, { wanted: this.wanted, node, version, claims: () => this.#claims() });
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
      names: wanted.asked(),
      version: this.#version === "" ? undefined : this.#version,
      isWhole: this.#isWhole && this.#stream.answers.size === 0,
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

type HoldEvent = Extract<ClientStreamEvent, { readonly kind: "hold" }>;

/** Stands for the number of a stream. */
const fromElsewhere = 0;

/** The effect of an update; none if nothing changed. */
function updated(draft: UpdateDraft): readonly ClientStreamEffect[] {
  const update = draft.finish();
  return update === undefined ? [] : [{ kind: "update", update }];
}
