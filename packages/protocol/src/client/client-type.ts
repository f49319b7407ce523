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
import { reasonsOf, rejectionText } from "./contract/rejection.js";
import { ClaimedVersion, fromElsewhere } from "./current/claimed-version.js";
import { CurrentResources, type RetainedWeight } from "./current/current-resources.js";
import { UpdateDraft } from "./current/update-draft.js";
import { clientTypeStatus } from "./taken/client-type-status.js";
import { Rejections } from "./taken/rejections.js";
import { type BadPart, isPartial, ResponseReading } from "./taken/response-reading.js";
import {
  type ArrivedResponse,
  faultOf,
  type Judged,
  judgeAll,
  type KnownOfType,
  takeAbsence,
  takeResponse,
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
  /** The weight of everything that is retained, of all types. */
  readonly weight: RetainedWeight;
}

/**
 * A client's subscription and resources of one type, over all its streams; `TypeStream` has the state of one stream.
 */
export class ClientType {
  readonly type: ResourceType;
  readonly wanted = new WantedNames();
  readonly #context: ClientContext;
  readonly #current: CurrentResources;
  readonly #rejections = new Rejections();
  readonly #known: KnownOfType;
  readonly #claimed: ClaimedVersion;
  readonly #reading: ResponseReading;
  #stream: TypeStream;

  constructor(type: ResourceType, context: ClientContext) {
    const { options, limits } = context;
    this.type = type;
    this.#context = context;
    this.#current = new CurrentResources(context.weight);
    this.#known = { type, options, limits, wanted: this.wanted, current: this.#current, rejections: this.#rejections };
    this.#claimed = new ClaimedVersion(type.fullState, context.stream);
    this.#stream = this.#newStream([]);
    this.#reading = new ResponseReading(type, options.variant, options.registry);
  }

  /** Nobody wants anything of the type, the server need not be told anything, and nothing is remembered. */
  get isEmpty(): boolean {
    return this.wanted.size === 0 && this.#current.size === 0 && !this.#context.isOpen();
  }

  get hasRequest(): boolean {
    return this.#stream.hasRequest(this.wanted);
  }

  get deadline(): number | undefined {
    const due = this.wanted.nextDue;
    const expiry = this.#current.nextExpiry;
    return due === undefined || expiry === undefined ? (due ?? expiry) : Math.min(due, expiry);
  }

  subscribe(names: readonly ResourceName[], now: number): readonly ClientStreamEffect[] {
    let isUnasked = false;
    for (const name of names) {
      const key = canonicalName(name);
      const found = this.#current.find(key);
      if (!this.wanted.add(name, found === undefined ? "requested" : "current")) continue;
      this.#claimed.widened(key === wildcard, found, this.#stream.isAsked);
      if (!this.#context.isOpen()) continue;
      this.#stream.want(key);
      this.#wait(key, now);
      isUnasked ||= this.#stream.isAllGivenUp && found === undefined;
    }
    if (!isUnasked) return [];
    const message = `in v2 ${this.type.name} that was given up comes again on another stream only`;
    return [{ kind: "close", code: statusCode.ok, message }];
  }

  /** Waits for a name of which nothing is known yet, or only from elsewhere: this server may not have it. */
  #wait(key: ResourceName, now: number): void {
    const due = now + this.#context.absentAfterMs;
    const found = this.#current.find(key);
    if (found === undefined) this.wanted.wait(key, due);
    else if (this.#isFullState && found.stream !== this.#context.stream()) this.wanted.waitForCurrent(key, due);
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

  /** Drops silently the resources that were there because of this name alone. */
  #forget(key: ResourceName): void {
    const found = this.#current.find(key);
    if (found === undefined && key !== wildcard && !isGlobName(key)) return;
    // Other wanted names are found among everything that a collection brought.
    for (const { key: name, resource } of found === undefined ? [...this.#current] : [found])
      if (!this.wanted.covers(name, resource.aliases)) this.#current.delete(name);
    this.#claimed.narrowed(this.#current.size === 0);
  }

  hold({ resources, version, isAll = false }: HoldEvent, now: number): void {
    this.#current.clear();
    this.#claimed.hold(version, isAll);
    for (const resource of resources) {
      const key = canonicalName(resource.name);
      this.#current.set(key, resource, resource.version, fromElsewhere, now);
      this.wanted.is(key, "current");
      for (const alias of resource.aliases) this.wanted.is(canonicalName(alias), "current");
    }
  }

  forgetVersions(): void {
    this.#claimed.forget();
    for (const one of this.#current) one.claim = "";
  }

  opened(now: number): void {
    this.#stream = this.#newStream(this.wanted.keys());
    for (const key of this.wanted.keys()) {
      if (this.#current.find(key) === undefined) this.wanted.requestAgain(key);
      this.wanted.wait(key, now + this.#context.absentAfterMs);
    }
  }

  closed(): void {
    // No decision will come about these responses: the server must send them again.
    if (this.#stream.answers.size > 0 && !this.#applyAll()) this.#claimed.lose();
    this.#stream = this.#newStream([]);
    this.wanted.stopWaiting();
  }

  /** Treats decisions that were not sent as sent; false if one is missing. */
  #applyAll(): boolean {
    const { answers } = this.#stream;
    for (let answer = answers.take(); answer !== undefined; answer = answers.take()) {
      if (answer.error === undefined) this.#claimed.acknowledged(answer.version);
    }
    return answers.size === 0;
  }

  #newStream(wanted: Iterable<ResourceName>): TypeStream {
    return new TypeStream(this.type, this.#context.options, wanted);
  }

  time(now: number, { unread = false, unsent = false }: TimeEvent): readonly ClientStreamEffect[] {
    const draft = new UpdateDraft(this.type);
    // A heartbeat may be among the unread responses, and would not bring back a dropped resource.
    if (unread) this.#current.putOff(now);
    for (const { key, resource } of this.#current.takeExpired(now)) {
      draft.remove(key, resource.name, "ttl");
      // A server would not send it again to a client that claims this version.
      this.#claimed.lose();
      this.#stream.lapse(key);
      for (const name of [key, ...resource.aliases]) this.wanted.is(canonicalName(name), "absent");
    }
    for (const key of this.wanted.takeDue(now)) {
      if (unread || unsent || this.#stream.holdsNames) {
        this.#wait(key, now);
        continue;
      }
      if (this.#current.find(key) !== undefined) {
        this.#unseen(key, draft);
        continue;
      }
      this.wanted.is(key, "absent");
      draft.absent(key, this.wanted.spelled(key), "timer");
    }
    return updated(draft);
  }

  /**
   * A current resource that was asked for on this stream did not come. Silence alone says nothing; a full state does.
   */
  #unseen(key: ResourceName, draft: UpdateDraft): void {
    if (!this.#stream.lacking.has(key)) this.#stream.knows(key);
    else takeAbsence(key, { ...this.#known, draft });
  }

  /**
   * Undefined if this type was not asked for on this stream: such a response is ignored, since an answer would be a
   * request (rule 165).
   */
  receive(sent: ArrivedResponse, response: number, now: number): readonly ClientStreamEffect[] | undefined {
    if (!this.#stream.isAsked) return undefined;
    const { options, limits } = this.#context;
    this.#stream.responded(sent.nonce);
    const draft = new UpdateDraft(this.type);
    const { bad, good, keepsAlive } = this.#take(sent, draft, now);
    const awaitsAnswer = options.answers === "when-told" && bad.length === 0;
    const head = { type: this.type, response, version: sent.version, nonce: sent.nonce };
    const effects: ClientStreamEffect[] = [
      { kind: "received", ...head, good, keepsAlive, awaitsAnswer },
      ...updated(draft),
    ];
    const error = bad.length === 0 ? undefined : rejectionText(bad, limits.errorCharacters);
    if (error !== undefined) effects.push({ kind: "rejected", ...head, message: error, bad });
    const { answers } = this.#stream;
    answers.add({ response, nonce: sent.nonce, version: sent.version, error }, !awaitsAnswer);
    if (answers.size > maxKept) {
      const message = `the server sent ${maxKept} responses of ${this.type.name} and read no answer to any`;
      effects.push({ kind: "close", code: statusCode.resourceExhausted, message });
    }
    return effects;
  }

  /** Judges the resources that `receive` would take, into `judged`. */
  *prepare(sent: SentResponse, judged: Map<number, Judged>, forServer: boolean): Steps<void> {
    if (!this.#stream.isAsked || faultOf(this.type, sent, this.#context.limits) !== undefined) return;
    const named = this.#reading.read(sent, this.wanted);
    yield* judgeAll({ ...this.#known, sent, named }, judged, forServer);
  }

  #take(
    sent: ArrivedResponse,
    draft: UpdateDraft,
    now: number,
  ): { readonly bad: readonly BadPart[]; readonly good: number; readonly keepsAlive: boolean } {
    const { limits, stream } = this.#context;
    const { type, wanted } = this;
    const fault = faultOf(type, sent, limits);
    if (fault !== undefined) {
      this.#rejections.set(undefined, { version: sent.version, message: reasonsOf(fault.findings), at: now });
      return { bad: [{ ...fault, index: undefined, version: "" }], good: 0, keepsAlive: false };
    }
    const named = this.#reading.read(sent, wanted);
    const isPart = isPartial(sent, named, this.#claimed.version);
    const taking = { ...this.#known, stream: stream(), now, draft, sent, named };
    const { bad, good } = takeResponse(taking, this.#isFullState && !isPart ? this.#stream : undefined);
    for (const { name } of bad) if (name !== undefined) this.#stream.cameBadly(canonicalName(name), wanted);
    this.#claimed.taken({ isGood: bad.length === 0, isPart, isChanged: !draft.isEmpty });
    this.#stream.repeatUnsure((key) => this.#current.find(key) !== undefined || (key === wildcard && type.fullState));
    this.#stream.askForLapsed(named, wanted);
    return { bad, good, keepsAlive: named.resources.some(({ sent }) => sent.ttl !== undefined) };
  }

  decide(response: number, error: string | undefined): void {
    const { errorCharacters } = this.#context.limits;
    const reason = error === undefined ? undefined : redactErrorText(error).slice(0, errorCharacters);
    const isDecided = this.#stream.answers.decide(response, reason);
    // It stays, at a version that the server takes for rejected.
    if (isDecided && reason !== undefined) this.#claimed.lose();
  }

  /** The next request of this type; `node` is sent with it, or undefined. */
  next(node: Uint8Array | undefined): OutgoingRequest | undefined {
    if (!this.hasRequest) return undefined;
    const isFirst = !this.#stream.isAsked;
    const answer = this.#stream.takeAnswer();
    if (answer !== undefined && answer.error === undefined) this.#claimed.acknowledged(answer.version);
    const version = this.#claimed.inRequest(isFirst, answer === undefined && this.#stream.nonce === "");
    return this.#stream.request(answer, { wanted: this.wanted, node, version, claims: () => this.#claims() });
  }

  *#claims(): Iterable<readonly [name: ResourceName, version: Version]> {
    for (const { key, resource, claim } of this.#current) {
      if (this.wanted.covers(key, resource.aliases)) yield [resource.name, claim];
    }
  }

  status(): ClientTypeStatus {
    return clientTypeStatus(this.#known, this.#claimed, this.#stream.answers.size === 0);
  }
}

type HoldEvent = Extract<ClientStreamEvent, { readonly kind: "hold" }>;

/** The effect of an update; none if nothing changed. */
function updated(draft: UpdateDraft): readonly ClientStreamEffect[] {
  const update = draft.finish();
  return update === undefined ? [] : [{ kind: "update", update }];
}
