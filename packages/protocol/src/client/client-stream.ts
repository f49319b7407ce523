import { messageOf, type ResourceType, redactErrorText, type Steps, type TypeUrl } from "@xdskit/api";
import { statusCode } from "../wire/basics/status-code.js";
import { readDeltaResponse, readSotwResponse, type SentResponse } from "../wire/responses/read-response.js";
import { ClientType } from "./client-type.js";
import type {
  ClientStream,
  ClientStreamEffect,
  ClientStreamEvent,
  ClientStreamOptions,
  ClientTypeStatus,
  OutgoingRequest,
} from "./contract/contract.js";
import { defaultClientStreamLimits, type Limits } from "./contract/limits.js";
import type { RetainedWeight } from "./current/current-resources.js";
import type { ArrivedResponse, Judged } from "./taken/response-taking.js";

/** After this many milliseconds without an answer a name does not exist (rule 166). */
const absentAfterMs = 15_000;

/** The client's end of one server: see `ClientStream`. */
export function createClientStream(options: ClientStreamOptions): ClientStream {
  return new Machine(options);
}

class Machine implements ClientStream {
  readonly #options: ClientStreamOptions;
  readonly #limits: Limits;
  readonly #types = new Map<TypeUrl, ClientType>();
  readonly #weight: RetainedWeight = { bytes: 0 };
  /** Types that may have something to say. */
  readonly #ready = new Set<ClientType>();
  /** The number of opened streams, and the number of responses on all of them, by which responses are numbered. */
  #streams = 0;
  #responses = 0;
  /** The numbers of responses of streams that are gone are not above this. */
  #before = 0;
  /** A response that is still to be stepped, read, with its resources that were judged. */
  #prepared: ArrivedResponse | undefined;
  #isOpen = false;
  #isNodeSent = false;

  constructor(options: ClientStreamOptions) {
    this.#options = options;
    const given = Object.entries(options.limits ?? {}).filter(([, limit]) => limit !== undefined);
    this.#limits = { ...defaultClientStreamLimits, ...Object.fromEntries(given) };
  }

  step(event: ClientStreamEvent, now: number): readonly ClientStreamEffect[] {
    switch (event.kind) {
      case "subscribe":
        return this.#change(this.#of(event.type), (of) => of.subscribe(event.names, now));
      case "unsubscribe":
        return this.#change(this.#of(event.type), (of) => {
          of.unsubscribe(event.names);
          return none;
        });
      case "hold":
        return this.#change(this.#of(event.type), (of) => {
          of.hold(event, now);
          return none;
        });
      case "forget-versions":
        for (const of of this.#types.values()) of.forgetVersions();
        return none;
      case "opened":
        return this.#opened(now);
      case "closed":
        return this.#closed();
      case "response":
        return this.#isOpen ? this.#receive(event.bytes, now) : none;
      case "answer":
        this.#decide(event.response, event.error);
        return none;
      case "time":
        return [...this.#types.values()].flatMap((of) => of.time(now, event));
    }
  }

  *prepare(bytes: Uint8Array, forServer: boolean): Steps<void> {
    const sent = this.#read(bytes);
    if (typeof sent === "string") return;
    const judged = new Map<number, Judged>();
    yield* this.#typeOf(sent.typeUrl)?.prepare(sent, judged, forServer) ?? [];
    this.#prepared = { ...sent, judged };
  }

  next(): OutgoingRequest | undefined {
    if (!this.#isOpen) return undefined;
    for (const of of this.#ready) {
      const { node, nodeOn } = this.#options;
      const request = of.next(nodeOn === "every" || !this.#isNodeSent ? node : undefined);
      if (!of.hasRequest) this.#ready.delete(of);
      if (request === undefined) continue;
      this.#isNodeSent = true;
      return request;
    }
    return undefined;
  }

  deadline(): number | undefined {
    let earliest: number | undefined;
    for (const { deadline } of this.#types.values()) {
      if (deadline !== undefined && (earliest === undefined || deadline < earliest)) earliest = deadline;
    }
    return earliest;
  }

  get isIdle(): boolean {
    for (const { wanted } of this.#types.values()) if (wanted.size > 0) return false;
    return true;
  }

  status(): readonly ClientTypeStatus[] {
    return this.#inOrder().map((of) => of.status());
  }

  #inOrder(): readonly ClientType[] {
    return [...this.#types.values()].sort((a, b) => a.type.deliveryOrder - b.type.deliveryOrder);
  }

  #of(type: ResourceType): ClientType {
    let of = this.#types.get(type.typeUrl);
    if (of === undefined) {
      of = new ClientType(type, {
        options: this.#options,
        limits: this.#limits,
        absentAfterMs: this.#options.absentAfterMs ?? absentAfterMs,
        stream: () => this.#streams,
        isOpen: () => this.#isOpen,
        weight: this.#weight,
      });
      this.#types.set(type.typeUrl, of);
    }
    return of;
  }

  #change(of: ClientType, change: (of: ClientType) => readonly ClientStreamEffect[]): readonly ClientStreamEffect[] {
    const effects = change(of);
    if (of.isEmpty) this.#types.delete(of.type.typeUrl);
    else if (this.#isOpen && of.hasRequest) this.#ready.add(of);
    return this.#closedBy(effects);
  }

  #opened(now: number): readonly ClientStreamEffect[] {
    if (this.#isOpen) this.#closed();
    this.#isOpen = true;
    this.#streams++;
    this.#isNodeSent = false;
    // In Envoy's order after a reconnect, in which a type comes before those that name it.
    for (const of of this.#inOrder()) {
      of.opened(now);
      if (of.hasRequest) this.#ready.add(of);
    }
    return none;
  }

  #closed(): readonly ClientStreamEffect[] {
    if (!this.#isOpen) return none;
    this.#isOpen = false;
    this.#before = this.#responses;
    this.#ready.clear();
    for (const [url, of] of this.#types) {
      of.closed();
      if (of.isEmpty) this.#types.delete(url);
    }
    return none;
  }

  #receive(bytes: Uint8Array, now: number): readonly ClientStreamEffect[] {
    const sent = this.#prepared?.bytes === bytes ? this.#prepared : this.#read(bytes);
    this.#prepared = undefined;
    if (typeof sent === "string") return this.#closedBy([{ kind: "close", code: statusCode.internal, message: sent }]);
    const of = this.#typeOf(sent.typeUrl);
    const effects = of?.receive(sent, this.#responses + 1, now);
    // Rule 165: the client did not ask for this type on this stream.
    if (of === undefined || effects === undefined) return none;
    this.#responses++;
    if (of.hasRequest) this.#ready.add(of);
    return this.#closedBy(effects);
  }

  /** The response, or why it is none. */
  #read(bytes: Uint8Array): SentResponse | string {
    const { variant } = this.#options;
    const most = this.#limits.resourcesPerResponse;
    try {
      return variant === "sotw" ? readSotwResponse(bytes, most) : readDeltaResponse(bytes, most);
    } catch (error) {
      const reason = redactErrorText(messageOf(error));
      return `a response that is no ${variant === "sotw" ? "" : "Delta"}DiscoveryResponse: ${reason}`;
    }
  }

  #closedBy(effects: readonly ClientStreamEffect[]): readonly ClientStreamEffect[] {
    if (effects.some(({ kind }) => kind === "close")) this.#closed();
    return effects;
  }

  #typeOf(typeUrl: TypeUrl): ClientType | undefined {
    const { only, types } = this.#options;
    // It came on the stream of this type, whatever its type_url, so this type rejects it.
    if (only !== undefined) return this.#types.get(only.typeUrl);
    return this.#types.get(types.byTypeUrl(typeUrl)?.type.typeUrl ?? typeUrl);
  }

  #decide(response: number, error: string | undefined): void {
    if (response <= this.#before) return;
    for (const of of this.#types.values()) {
      of.decide(response, error);
      if (this.#isOpen && of.hasRequest) this.#ready.add(of);
    }
  }
}

const none: readonly ClientStreamEffect[] = [];
