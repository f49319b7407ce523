import { createHash } from "node:crypto";
import { type ApiVersion, createWaits, messageOf, type ResourceType, type Waits, XdskitError } from "@xdskit/api";
import type { ReadingThread } from "@xdskit/api/threads";
import type { ClientStream, ClientStreamEvent, ClientTypeStatus } from "@xdskit/protocol";
import { awayError } from "../../errors/client-errors.js";
import type { UpstreamContext, UpstreamSink } from "../contract/upstream.js";
import { answerError } from "./answer-error.js";
import { createPollRequests, type PollRequests } from "./poll-request.js";
import { PolledStream } from "./polled-stream.js";
import type { HttpAnswer, Poster } from "./poster.js";
import type { UnreadResources } from "./unread-resources.js";

export interface PollingOptions {
  readonly type: ResourceType;
  /** Such as `/v3/discovery:clusters`. */
  readonly path: string;
  readonly api: ApiVersion;
  readonly refreshDelayMs: number;
  readonly machine: ClientStream;
  readonly poster: Poster;
  readonly unread: UnreadResources;
  readonly reading: ReadingThread;
  readonly context: UpstreamContext;
  readonly sink: UpstreamSink;
}

/** The part of an answer that its error may show. */
const shownBytes = 64 * 1024 + 1;
/** The client asks for new names at once, but not more often than this: a program may ask for a thousand one by one. */
const leastGapMs = 100;
/** The jitter of a wait between polls, as a share of it. A wait never gets shorter than the setting. */
const refreshJitter = 0.1;
/** The longest wait between polls of a failing server, which grows with each failure. */
const maxRetryMs = 30_000;
/** The longest `retry-after` that counts. */
const maxRetryAfterMs = 120_000;

interface AskingPoll {
  readonly kind: "asking";
  readonly startedAt: number;
  readonly abort: AbortController;
  stopRenewal: (() => void) | undefined;
}

/**
 * - `idle`: nothing is wanted, and the machine sees no stream.
 * - `waiting`: the next poll has its time. If nothing is wanted any more, the end comes after this turn.
 * - `opening`: a poll starts in this turn, and asks for all that is wanted by then.
 * - `asking`: a poll is under way. If it lacks wanted names, `stopRenewal` ends the time after which it is given up.
 * - `taking`: its answer is read and the watchers take it, or its failure is reported.
 * - `closed`: for good; the last poll may not be over yet.
 */
type PollingState =
  | { readonly kind: "idle" | "opening" | "closed" }
  | { readonly kind: "waiting"; readonly stop: () => void }
  | AskingPoll
  | { readonly kind: "taking"; lacksNames: boolean };

/** The polls of one type: one after the other, while any name is wanted. */
export class Polling {
  readonly #options: PollingOptions;
  readonly #stream: PolledStream;
  readonly #requests: PollRequests;
  readonly #waits: Waits;
  #state: PollingState = { kind: "idle" };
  /** Resolves once the last poll is over. */
  #polled = Promise.resolve();
  /** No poll starts before: the last one has just started, or the server failed. */
  #notBefore = Number.NEGATIVE_INFINITY;
  /** The number of polls in a row that were given up to ask for more names. */
  #renewals = 0;
  #request: Uint8Array | undefined;

  constructor(options: PollingOptions) {
    this.#options = options;
    this.#stream = new PolledStream(options);
    const { context, refreshDelayMs } = options;
    this.#requests = createPollRequests(context.registry);
    const maxMs = Math.max(refreshDelayMs, Math.min(context.backoff.maxMs, maxRetryMs));
    this.#waits = createWaits({ ...context.backoff, firstMs: refreshDelayMs, maxMs }, context.random);
  }

  /** Names are wanted or not wanted any more, or resources come from elsewhere. */
  tell(event: ClientStreamEvent): void {
    if (this.#isClosed) return;
    this.#stream.step(event);
    if (event.kind !== "unsubscribe") this.#stream.takeAgain();
    const hasNames = event.kind === "subscribe";
    const { isIdle } = this.#options.machine;
    const state = this.#state;
    switch (state.kind) {
      case "idle":
        if (!isIdle) this.#wait(this.#notBefore);
        break;
      case "waiting":
        if (isIdle || hasNames) this.#wait(this.#notBefore);
        break;
      case "asking":
        if (isIdle) state.abort.abort();
        else if (hasNames) state.stopRenewal ??= this.#renew(state);
        break;
      case "taking":
        state.lacksNames ||= hasNames;
        break;
    }
  }

  status(): readonly ClientTypeStatus[] {
    return this.#options.machine.status();
  }

  async close(): Promise<void> {
    const state = this.#state;
    this.#state = { kind: "closed" };
    this.#stream.close();
    if (state.kind === "waiting") state.stop();
    if (state.kind === "asking") state.abort.abort();
    await this.#polled;
    this.#stream.shut(undefined);
  }

  get #isClosed(): boolean {
    return this.#state.kind === "closed";
  }

  get #isOver(): boolean {
    return this.#isClosed || this.#options.machine.isIdle;
  }

  /** Waits for the time of the next poll. If nothing is wanted, the polls end after this turn. */
  #wait(until: number): void {
    const { machine, context } = this.#options;
    if (this.#isClosed) return;
    if (this.#state.kind === "waiting") this.#state.stop();
    const left = machine.isIdle ? 0 : until - context.clock.now();
    const due = () => this.#state === waiting && this.#due();
    const waiting: PollingState = { kind: "waiting", stop: left > 0 ? context.clock.after(left, due) : () => {} };
    this.#state = waiting;
    // More names may follow in this turn.
    if (left <= 0) queueMicrotask(due);
  }

  #due(): void {
    const { machine } = this.#options;
    this.#state = { kind: "opening" };
    if (!machine.isIdle) this.#stream.open();
    if (this.#isClosed) return;
    if (!machine.isIdle) this.#polled = this.#poll();
    else {
      this.#state = { kind: "idle" };
      this.#request = undefined;
      this.#stream.shut(undefined);
    }
  }

  /** Never rejects. */
  async #poll(): Promise<void> {
    const { machine, refreshDelayMs, context } = this.#options;
    const startedAt = context.clock.now();
    const asking: AskingPoll = { kind: "asking", startedAt, abort: new AbortController(), stopRenewal: undefined };
    this.#state = asking;
    this.#notBefore = startedAt + Math.min(leastGapMs, refreshDelayMs);
    const { signal } = asking.abort;
    const came = await this.#ask(signal).catch(problemOf);
    asking.stopRenewal?.();
    if (this.#isClosed) return;
    const taking: PollingState = { kind: "taking", lacksNames: asking.stopRenewal !== undefined };
    this.#state = taking;
    const isGivenUp = machine.isIdle || ("error" in came && signal.aborted);
    const usualMs = isGivenUp ? 0 : await this.#take(came);
    this.#wait(taking.lacksNames ? this.#notBefore : Math.max(context.clock.now() + usualMs, this.#notBefore));
  }

  async #ask(signal: AbortSignal): Promise<HttpAnswer> {
    const { path, poster, machine } = this.#options;
    // The newest request is complete: that of an abandoned poll is not needed. Without one, nothing changed.
    for (let next = machine.next(); next !== undefined; next = machine.next()) this.#request = next.bytes;
    if (this.#request === undefined) throw new Error("there is nothing to ask for");
    const { json, hasVersion } = this.#requests.of(this.#request);
    return await poster.post(path, json, { signal, mayBeParked: this.#stream.isUp || hasVersion });
  }

  /** Returns the wait before the next poll in milliseconds, unless it must be later or there are new names. */
  async #take(came: HttpAnswer | PollProblem): Promise<number> {
    const { refreshDelayMs, context } = this.#options;
    const problem = "error" in came ? came : await this.#answered(came).catch(problemOf);
    if (this.#isOver) return 0;
    if (problem !== undefined) {
      this.#failed(problem);
      return 0;
    }
    this.#waits.reset();
    this.#renewals = 0;
    return refreshDelayMs * (1 + refreshJitter * context.random());
  }

  /**
   * A server may hold a poll until something changes. A poll that lacks wanted names is given up, each time after a
   * longer wait. Returns a function that ends the wait.
   */
  #renew({ startedAt, abort }: AskingPoll): () => void {
    const { clock } = this.#options.context;
    const gap = leastGapMs * 2 ** Math.min(this.#renewals, 10);
    return clock.after(Math.max(0, startedAt + gap - clock.now()), () => {
      this.#renewals += 1;
      abort.abort();
    });
  }

  /** Takes an answer, and waits for the watchers; returns why it cannot be used. */
  async #answered(answer: HttpAnswer): Promise<PollProblem | undefined> {
    const { type, path, poster, unread, reading, api } = this.#options;
    // The thread may take the body's memory.
    const shown = { ...answer, body: Buffer.from(answer.body.subarray(0, shownBytes)) };
    const refuse = (message?: string): PollProblem => {
      const error = answerError({ type, path, answer: shown, message, withoutSecrets: poster.withoutSecrets });
      return { error, retryAfterMs: retryAfterMs(answer) };
    };
    if (answer.status === 304) {
      this.#stream.responded(0);
      return undefined;
    }
    if (answer.status !== 200) return refuse();
    const digest = createHash("sha256").update(answer.body).digest("base64");
    // Servers without versions send the same again and again.
    if (this.#stream.isUnchanged(digest)) return undefined;
    const hasTtls = answer.body.includes('"ttl"');
    const standInType = (api === "v2" ? type.v2TypeUrl : undefined) ?? type.typeUrl;
    const read = await reading.response(answer.body, { type, standInType });
    if (this.#isOver) return undefined;
    if (read.kind === "problem") return refuse(read.message);
    unread.note(read.unread);
    const broken = await this.#stream.take(read.bytes, digest, hasTtls);
    return broken === undefined ? undefined : refuse(broken);
  }

  #failed({ error, retryAfterMs }: PollProblem): void {
    const { type, poster, sink, context } = this.#options;
    const why = error instanceof XdskitError ? error : awayError(poster.server, messageOf(error));
    this.#stream.shut(why.message);
    sink.failed(type, why, false);
    this.#notBefore = context.clock.now() + Math.max(this.#waits.next(), retryAfterMs);
  }
}

/** Why a poll brought nothing. */
interface PollProblem {
  readonly error: unknown;
  /** The wait that the server asks for; 0 if it asks for none. */
  readonly retryAfterMs: number;
}

function problemOf(error: unknown): PollProblem {
  return { error, retryAfterMs: 0 };
}

function retryAfterMs({ status, headers }: HttpAnswer): number {
  const text = headers["retry-after"] ?? "";
  if (status < 400 || text === "") return 0;
  const milliseconds = /^\d+$/.test(text) ? Number(text) * 1_000 : Date.parse(text) - Date.now();
  return Number.isFinite(milliseconds) ? Math.max(0, Math.min(milliseconds, maxRetryAfterMs)) : 0;
}
