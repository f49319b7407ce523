import { createHash } from "node:crypto";
import { type ApiVersion, type ResourceType, XdskitError } from "@xdskit/api";
import type { ReadingThread } from "@xdskit/api/threads";
import {
  type ClientStream,
  type ClientStreamEffect,
  type ClientStreamEvent,
  type ClientTypeStatus,
  type ResourceUpdate,
  statusCode,
} from "@xdskit/protocol";
import { awayError } from "../../errors/client-errors.js";
import { createWaits, type Waits } from "../../timing/backoff.js";
import { answerLater } from "../contract/answer-later.js";
import type { UpstreamContext, UpstreamSink } from "../contract/upstream.js";
import { answerError } from "./answer-error.js";
import { createPollRequests, type PollRequests } from "./poll-request.js";
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
const mostRetryMs = 30_000;
/** The longest `retry-after` that counts. */
const mostRetryAfterMs = 120_000;

/** The polls of one type: one after the other, while any name is wanted. */
export class Polling {
  readonly #options: PollingOptions;
  readonly #requests: PollRequests;
  readonly #waits: Waits;
  /** The stream that the machine sees: it lasts from poll to poll, until one fails. */
  #isOpen = false;
  /** The sink was told `connected`. */
  #isUp = false;
  #running: Promise<void> | undefined;
  /** The current poll. */
  #poll: AbortController | undefined;
  #startedAt = Number.NEGATIVE_INFINITY;
  /** The server failed: no poll before this time, not even for new names. */
  #notBefore = Number.NEGATIVE_INFINITY;
  /** There are names that the last poll did not ask for. */
  #asksAnew = false;
  /** The number of polls in a row that were given up to ask for more names. */
  #renewals = 0;
  /** The watchers are still taking the last answer: there is no poll meanwhile. */
  #isDelivering = false;
  #stopRenewal: (() => void) | undefined;
  #request: Uint8Array | undefined;
  /** The last body that was taken; undefined if the same body must be taken again. */
  #taken: { readonly digest: string; readonly good: number } | undefined;
  #wake = () => {};
  #stopDeadline = () => {};
  #closed = false;

  constructor(options: PollingOptions) {
    this.#options = options;
    const { context, refreshDelayMs } = options;
    this.#requests = createPollRequests(context.registry);
    const mostMs = Math.max(refreshDelayMs, Math.min(context.backoff.mostMs, mostRetryMs));
    this.#waits = createWaits({ ...context.backoff, firstMs: refreshDelayMs, mostMs }, context.random);
  }

  /** Names are wanted or not wanted any more, or resources are held from elsewhere. */
  tell(event: ClientStreamEvent): void {
    if (this.#closed) return;
    this.#handle(this.#step(event));
    if (event.kind !== "unsubscribe") this.#taken = undefined;
    if (event.kind === "subscribe") this.#asksAnew = true;
    if (this.#isOver) this.#poll?.abort();
    else if (this.#asksAnew) this.#renew();
    if (!this.#isOver) this.#running ??= this.#run();
    this.#wake();
  }

  status(): readonly ClientTypeStatus[] {
    return this.#options.machine.status();
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#stopDeadline();
    this.#poll?.abort();
    this.#wake();
    await this.#running;
  }

  get #isOver(): boolean {
    return this.#closed || this.#options.machine.isIdle;
  }

  async #run(): Promise<void> {
    // More names may follow in this turn.
    await Promise.resolve();
    while (!this.#isOver) await this.#wait(await this.#pollOnce());
    this.#end();
    // A new subscriber may have come while the last one left.
    this.#running = this.#isOver ? undefined : this.#run();
  }

  /** Waits for the time of the next poll: sooner for new names, not at all if nothing is wanted. */
  async #wait(milliseconds: number): Promise<void> {
    const { refreshDelayMs, context } = this.#options;
    const { clock } = context;
    const until = clock.now() + milliseconds;
    while (!this.#isOver) {
      const soon = Math.max(this.#startedAt + Math.min(leastGapMs, refreshDelayMs), this.#notBefore);
      const left = (this.#asksAnew ? Math.min(until, soon) : until) - clock.now();
      if (left <= 0) return;
      await new Promise<void>((resolve) => {
        const stop = clock.after(left, resolve);
        this.#wake = () => {
          stop();
          resolve();
        };
      });
    }
  }

  /** Resolves with the wait before the next poll. Never rejects. */
  async #pollOnce(): Promise<number> {
    const { type, path, poster, refreshDelayMs, sink, context } = this.#options;
    if (!this.#isOpen) {
      sink.attempting(type);
      if (this.#isOver) return 0;
      this.#isOpen = true;
      this.#handle(this.#step({ kind: "opened" }));
    }
    const poll = new AbortController();
    this.#poll = poll;
    this.#startedAt = context.clock.now();
    this.#asksAnew = false;
    let problem: Problem | undefined;
    try {
      const { json, hasVersion } = this.#requests.of(this.#nextRequest());
      const answer = await poster.post(path, json, { signal: poll.signal, mayBeHeld: this.#isUp || hasVersion });
      this.#letGo();
      if (this.#isOver) return 0;
      problem = await this.#answered(answer);
    } catch (error) {
      if (poll.signal.aborted) return 0;
      problem = { error, retryAfterMs: 0 };
    } finally {
      this.#letGo();
    }
    if (this.#isOver) return 0;
    if (problem !== undefined) return this.#failed(problem);
    this.#waits.reset();
    this.#renewals = 0;
    return refreshDelayMs * (1 + refreshJitter * context.random());
  }

  #letGo(): void {
    this.#poll = undefined;
    this.#stopRenewal?.();
    this.#stopRenewal = undefined;
  }

  /**
   * A server may hold a poll until something changes. A poll that lacks wanted names is given up, each time after a
   * longer wait.
   */
  #renew(): void {
    const poll = this.#poll;
    if (poll === undefined || this.#stopRenewal !== undefined) return;
    const { clock } = this.#options.context;
    const gap = leastGapMs * 2 ** Math.min(this.#renewals, 10);
    this.#stopRenewal = clock.after(Math.max(0, this.#startedAt + gap - clock.now()), () => {
      this.#renewals += 1;
      poll.abort();
    });
  }

  /** The next request; the same as before if nothing changed. */
  #nextRequest(): Uint8Array {
    const { machine } = this.#options;
    // The newest request is complete: the one of an abandoned poll is not needed.
    for (let next = machine.next(); next !== undefined; next = machine.next()) this.#request = next.bytes;
    if (this.#request === undefined) throw new Error("there is nothing to ask for");
    return this.#request;
  }

  /** Takes an answer, and waits for the watchers; returns why it cannot be used. */
  async #answered(answer: HttpAnswer): Promise<Problem | undefined> {
    const { type, path, poster, unread, reading, api } = this.#options;
    // The thread may take the body's memory.
    const shown = { ...answer, body: Buffer.from(answer.body.subarray(0, shownBytes)) };
    const refuse = (message?: string): Problem => {
      const error = answerError({ type, path, answer: shown, message, withoutSecrets: poster.withoutSecrets });
      return { error, retryAfterMs: retryAfterMs(answer) };
    };
    if (answer.status === 304) return this.#heard(0);
    if (answer.status !== 200) return refuse();
    const digest = createHash("sha256").update(answer.body).digest("base64");
    // Servers without versions send the same again and again.
    if (digest === this.#taken?.digest) return this.#heard(this.#taken.good);
    const hasTtls = answer.body.includes('"ttl"');
    const standInType = (api === "v2" ? type.v2TypeUrl : undefined) ?? type.typeUrl;
    const read = await reading.response(answer.body, { type, standInType });
    if (this.#isOver) return undefined;
    if (read.kind === "problem") return refuse(read.message);
    unread.note(read.unread);
    const effects = this.#step({ kind: "response", bytes: read.bytes });
    const received = effects.find(({ kind }) => kind === "received");
    const good = received?.kind === "received" ? received.good : 0;
    // In the same turn as the update.
    this.#heard(good);
    // The TTLs start again each time.
    this.#taken = received === undefined || hasTtls ? undefined : { digest, good };
    const { delivered, broken } = this.#handle(effects);
    this.#isDelivering = true;
    await delivered;
    this.#isDelivering = false;
    return broken === undefined ? undefined : refuse(broken);
  }

  /** The server is present. */
  #heard(good: number): undefined {
    const { type, sink } = this.#options;
    if (!this.#isUp) {
      this.#isUp = true;
      sink.connected(type);
    }
    sink.responded(type, good);
  }

  #failed({ error, retryAfterMs }: Problem): number {
    const { type, poster, sink, context } = this.#options;
    const why =
      error instanceof XdskitError
        ? error
        : awayError(poster.server, error instanceof Error ? error.message : String(error));
    this.#shut({ code: statusCode.unavailable, message: why.message });
    sink.failed(type, why, false);
    const waitMs = Math.max(this.#waits.next(), retryAfterMs);
    this.#notBefore = context.clock.now() + waitMs;
    return waitMs;
  }

  #end(): void {
    this.#request = undefined;
    this.#shut(undefined);
    this.#stopDeadline();
  }

  #shut(error: { readonly code: number; readonly message: string } | undefined): void {
    this.#taken = undefined;
    if (this.#isOpen) {
      this.#isOpen = false;
      this.#handle(this.#step({ kind: "closed" }));
    }
    if (!this.#isUp) return;
    this.#isUp = false;
    if (!this.#closed) this.#options.sink.disconnected(this.#options.type, error);
  }

  #step(event: ClientStreamEvent): readonly ClientStreamEffect[] {
    const { machine, context } = this.#options;
    return machine.step(event, context.clock.now());
  }

  /**
   * Tells the sink. `delivered` resolves when the watchers are done; `broken` says why the rest of this stream cannot
   * be understood.
   */
  #handle(effects: readonly ClientStreamEffect[]): { delivered: Promise<unknown>; broken: string | undefined } {
    const { type, sink } = this.#options;
    let delivered: Promise<unknown> = Promise.resolve();
    let broken: string | undefined;
    let unanswered: number | undefined;
    let update: ResourceUpdate | undefined;
    for (const effect of this.#closed ? [] : effects) {
      if (effect.kind === "close") {
        // The next poll starts as on another stream.
        this.#isOpen = false;
        this.#taken = undefined;
        broken = effect.message;
      } else if (effect.kind === "received") unanswered = effect.awaitsAnswer ? effect.response : undefined;
      else if (effect.kind === "rejected") sink.rejected(type, effect.version, effect.message, effect.bad);
      else if (effect.kind === "update") {
        update = effect.update;
        delivered = Promise.resolve(sink.update(update));
      }
    }
    if (unanswered !== undefined) {
      const response = unanswered;
      // The decision goes out with the next poll.
      answerLater(sink, type, update, (error) => void this.#handle(this.#step({ kind: "answer", response, error })));
    }
    this.#awaitDeadline();
    return { delivered, broken };
  }

  /** Sets a timer for the machine's next deadline. */
  #awaitDeadline(): void {
    this.#stopDeadline();
    const { machine, context } = this.#options;
    const deadline = machine.deadline();
    if (deadline === undefined || this.#closed) return;
    this.#stopDeadline = context.clock.after(Math.max(0, deadline - context.clock.now()), () => {
      if (!this.#closed) this.#handle(this.#step({ kind: "time", unread: this.#isDelivering }));
    });
  }
}

/** Why a poll brought nothing. */
interface Problem {
  readonly error: unknown;
  /** The wait that the server asks for; 0 if it asks for none. */
  readonly retryAfterMs: number;
}

function retryAfterMs({ status, headers }: HttpAnswer): number {
  const text = headers["retry-after"] ?? "";
  if (status < 400 || text === "") return 0;
  const milliseconds = /^\d+$/.test(text) ? Number(text) * 1_000 : Date.parse(text) - Date.now();
  return Number.isFinite(milliseconds) ? Math.max(0, Math.min(milliseconds, mostRetryAfterMs)) : 0;
}
