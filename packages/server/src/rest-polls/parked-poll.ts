import { longestTimerMs, type ResourceName, type ResourceType, redactErrorText } from "@xdskit/api";
import type { FairQueue } from "@xdskit/grpc-server";
import {
  asksForUnknown,
  isSetVersion,
  type JsonRequest,
  mayDiffer,
  type Node,
  type ResourceSet,
  type Selection,
  select,
} from "@xdskit/protocol";
import type { NodeStreamInfo } from "../contracts/nodes/stream-info.js";
import type { PollAnswer } from "../contracts/poll-transport.js";
import { notKnown } from "../identity/caller.js";
import type { Membership } from "../publication/membership.js";
import type { GroupClient } from "../publication/stack-part.js";
import type { Poller, PollVerdict, Unaccepted } from "./delivered.js";
import { type PollContext, pollFault, pollInfo } from "./poll-context.js";

/** The parts of a poll. */
export interface ParkedPollParts {
  readonly context: PollContext;
  readonly queue: FairQueue<ParkedPoll>;
  readonly poller: Poller;
  readonly node: Node;
  /** v3 type URLs that are supplied on demand to this client. */
  readonly onDemand: ReadonlySet<string> | undefined;
  readonly request: JsonRequest;
  readonly verdict: PollVerdict;
  /** Called before the client is sent this version. */
  readonly delivers: (version: string) => void;
  readonly answer: (answer: PollAnswer) => void;
  /** Called once when the poll has ended. */
  readonly ended: () => void;
}

/**
 * One poll. Without a stream there is no cursor: the client's state is the version that it sends, which is compared
 * with that of its target (`Selection`), now and after each change (rules 143, 144).
 */
export class ParkedPoll implements GroupClient {
  readonly #parts: ParkedPollParts;
  #unaccepted: Unaccepted | undefined;
  /** The client, until the verdict was reported. */
  #reported: { readonly info: NodeStreamInfo; readonly request: JsonRequest } | undefined;
  #membership: Membership | undefined;
  #seen: ResourceSet | undefined;
  /** Names that may still be supplied: an answer without them would say that they do not exist. */
  #undecided: Set<ResourceName> | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** True once it is answered or canceled. */
  #isAnswered = false;
  #over = false;

  constructor(parts: ParkedPollParts, join: (subscriber: GroupClient) => Membership) {
    const { context, queue, poller, node, request, verdict } = parts;
    this.#parts = parts;
    this.#membership = join(this);
    this.#demand();
    if (verdict.kind !== "fresh") {
      const { group } = this.#membership;
      this.#reported = { info: { ...pollInfo(context, poller), node, group }, request };
    }
    if (verdict.kind === "accepted") this.#tellAccepted(verdict.version);
    else if (verdict.kind === "unaccepted") this.#unaccepted = verdict;
    if (context.holdMs > 0)
      this.#timer = setTimeout(() => this.#guard(() => this.#endHold()), Math.min(context.holdMs, longestTimerMs));
    queue.add(this, "answers");
  }

  targetChanged(): void {
    if (!this.#isAnswered) this.#parts.queue.add(this, "changes");
  }

  nameDecided(_type: ResourceType, name: ResourceName): void {
    this.#undecided?.delete(name);
    if (this.#undecided?.size === 0) this.#endWait();
  }

  /** Checks whether there is something new. Called by the queue. */
  work(): void {
    if (this.#isAnswered) return;
    this.#guard(() => {
      this.#look();
      if (this.#parts.context.holdMs <= 0 && !this.#isAnswered) this.#endHold();
    });
  }

  /** The client is gone. */
  cancel(): void {
    this.#stopWaiting();
    this.#end();
  }

  /** Its caller may ask no more. */
  end(): void {
    if (!this.#isAnswered) this.#guard(() => this.#finish({ kind: "refused", status: 403, message: notKnown }));
  }

  /** Answers because the server shuts down: the client's version stays valid, or it asks another server. */
  shutDown(): void {
    if (this.#isAnswered) return;
    this.#guard(() => {
      this.#look();
      if (!this.#isAnswered) this.#finish(this.#seen === undefined ? shuttingDown : { kind: "not-modified" });
    });
  }

  /** Asks for names that may have to be supplied first. */
  #demand(): void {
    const { type, subscription } = this.#parts.poller;
    const { names } = subscription;
    if (names.size === 0 || !this.#parts.onDemand?.has(type.typeUrl)) return;
    const demanded = { kind: "demanded", type, added: [...names], again: [], dropped: [], names } as const;
    const undecided = this.#membership?.interest?.demand(demanded).undecided ?? [];
    if (undecided.length > 0) this.#undecided = new Set(undecided);
  }

  /** Ends the wait: names that are still missing do not exist. */
  #endWait(): void {
    this.#undecided = undefined;
    this.#seen = undefined;
    if (!this.#isAnswered) this.#parts.queue.add(this, "answers");
  }

  #look(): void {
    if (asksForUnknown(this.#parts.poller, this.#membership?.stack.unknown())) return;
    const set = this.#membership?.snapshot()?.of(this.#parts.poller.type);
    if (set === undefined || set === this.#seen) return;
    if (this.#seen !== undefined && !mayDiffer(this.#parts.poller.subscription, this.#seen, set)) {
      this.#seen = set;
      return;
    }
    this.#seen = set;
    const current = select(set, this.#parts.poller.subscription);
    this.#tellRejected(current);
    if (this.#undecided === undefined && this.#lacks(current)) this.#respond(current);
  }

  #selection(): Selection | undefined {
    return this.#seen && select(this.#seen, this.#parts.poller.subscription);
  }

  /** Whether the client needs this selection. */
  #lacks({ version }: Selection): boolean {
    const given = this.#unaccepted;
    if (given === undefined) return version !== this.#parts.request.version;
    // The client's content of its own version may have been replaced in part, so a return to that version must be sent.
    return version !== given.version || (given.again === "at-once" && version !== this.#parts.request.version);
  }

  #endHold(): void {
    if (this.#isAnswered) return;
    // A change at this very moment counts. The wait for names that may be supplied ends.
    if (this.#undecided !== undefined) this.#endWait();
    this.#look();
    if (this.#isAnswered) return;
    const current = this.#selection();
    if (current === undefined && this.#parts.request.version === "") {
      // Rule 147: to a client that has nothing, "not modified" would be no answer.
      this.#finish({ ...unavailable, message: "no configuration is known yet" });
    } else if (
      current !== undefined &&
      current.version !== this.#parts.request.version &&
      this.#unaccepted?.again === "after-hold"
    ) {
      this.#respond(current);
    } else {
      this.#finish({ kind: "not-modified" });
    }
  }

  #respond(selection: Selection): void {
    const { type, api } = this.#parts.poller;
    this.#stopWaiting();
    const { counters, bodies } = this.#parts.context;
    bodies.of(type, api, selection).then(
      (body) =>
        this.#guard(() => {
          if (this.#over) return;
          const count = counters.type(type, "sotw");
          count.responses += 1;
          count.resources += selection.size;
          count.responseBytes += body.bytes.byteLength;
          this.#parts.delivers(selection.version);
          this.#finish({ kind: "response", body });
        }),
      (error: unknown) => this.#fail(error),
    );
  }

  #finish(answer: PollAnswer): void {
    this.#stopWaiting();
    if (this.#over) return;
    const count = this.#parts.context.counters.poll(this.#parts.poller.type, this.#parts.poller.api);
    if (answer.kind === "response") count.answered += 1;
    else if (answer.kind === "not-modified") count.notModified += 1;
    this.#end();
    this.#parts.answer(answer);
  }

  #fail(error: unknown): void {
    this.#finish(pollFault(this.#parts.context, this.#parts.poller, error));
  }

  /** A fault in here ends this poll, never the server. */
  #guard(action: () => void): void {
    try {
      action();
    } catch (error) {
      this.#fail(error);
    }
  }

  #tellAccepted(version: string): void {
    const stream = this.#reported?.info;
    this.#reported = undefined;
    if (stream === undefined) return;
    const { counters, events } = this.#parts.context;
    const { type } = this.#parts.poller;
    counters.type(type, "sotw").acknowledged += 1;
    events.emit("acknowledged", () => ({ stream, type, version }));
  }

  #tellRejected(current: Selection): void {
    const reported = this.#reported;
    this.#reported = undefined;
    const given = this.#unaccepted;
    if (given === undefined) return;
    // A poll without a nonce that was not answered here before can hardly mean anything else.
    const version = given.version ?? current.version;
    this.#unaccepted = { ...given, version };
    // A client that never sends a version means nothing by sending none.
    if (
      reported === undefined ||
      !(given.notified || (given.again === "never" && isSetVersion(this.#parts.request.version)))
    )
      return;
    const { counters, events, rejections } = this.#parts.context;
    const { type, node } = this.#parts.poller;
    if (!rejections.first(node, type.typeUrl, version)) return;
    const count = counters.type(type, "sotw");
    count.rejected += 1;
    count.rejectedVersions += 1;
    const { code, message: said } = reported.request.error ?? noMessage;
    // As over gRPC: clients quote what they reject.
    const message = redactErrorText(said);
    events.emit("rejected", () => ({ stream: reported.info, type, version, code, message, names: [] }));
  }

  #stopWaiting(): void {
    if (this.#isAnswered) return;
    this.#isAnswered = true;
    clearTimeout(this.#timer);
    this.#parts.queue.delete(this);
    this.#membership?.leave();
    this.#membership = undefined;
    this.#reported = undefined;
  }

  #end(): void {
    if (this.#over) return;
    this.#over = true;
    this.#seen = undefined;
    this.#parts.ended();
  }
}

const unavailable = { kind: "refused", status: 503, message: "", retryAfterS: 1 } as const;
/** The answer of a poll during a shutdown. */
export const shuttingDown = { ...unavailable, message: "the server is shutting down" } as const;

/** gRPC's UNKNOWN. */
const noMessage = {
  code: 2,
  message: "it polls again with the version that it had before; over REST, Envoy does not say why",
} as const;
