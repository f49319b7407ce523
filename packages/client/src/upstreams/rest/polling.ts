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

/** The polls of one type: one after the other, while any name is wanted. */
export class Polling {
  readonly #options: PollingOptions;
  readonly #stream: PolledStream;
  readonly #requests: PollRequests;
  readonly #waits: Waits;
  #running: Promise<void> | undefined;
  /** The current poll. `stopRenewal`: set once it is to be given up, to ask for more names. */
  #poll: { readonly abort: AbortController; stopRenewal: (() => void) | undefined } | undefined;
  #startedAt = Number.NEGATIVE_INFINITY;
  /** The server failed: no poll before this time, not even for new names. */
  #notBefore = Number.NEGATIVE_INFINITY;
  /** There are names that the last poll did not ask for. */
  #asksAnew = false;
  /** The number of polls in a row that were given up to ask for more names. */
  #renewals = 0;
  #request: Uint8Array | undefined;
  #wake = () => {};
  #closed = false;

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
    if (this.#closed) return;
    this.#stream.step(event);
    if (event.kind !== "unsubscribe") this.#stream.takeAgain();
    if (event.kind === "subscribe") this.#asksAnew = true;
    if (this.#isOver) this.#poll?.abort.abort();
    else if (this.#asksAnew) this.#renew();
    if (!this.#isOver) this.#running ??= this.#run();
    this.#wake();
  }

  status(): readonly ClientTypeStatus[] {
    return this.#options.machine.status();
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#stream.close();
    this.#poll?.abort.abort();
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
    const { path, poster, refreshDelayMs, context } = this.#options;
    this.#stream.open();
    if (this.#isOver) return 0;
    const abort = new AbortController();
    this.#poll = { abort, stopRenewal: undefined };
    this.#startedAt = context.clock.now();
    this.#asksAnew = false;
    let problem: Problem | undefined;
    try {
      const { json, hasVersion } = this.#requests.of(this.#nextRequest());
      const answer = await poster.post(path, json, {
        signal: abort.signal,
        mayBeParked: this.#stream.isUp || hasVersion,
      });
      this.#letGo();
      if (this.#isOver) return 0;
      problem = await this.#answered(answer);
    } catch (error) {
      if (abort.signal.aborted) return 0;
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
    this.#poll?.stopRenewal?.();
    this.#poll = undefined;
  }

  /**
   * A server may hold a poll until something changes. A poll that lacks wanted names is given up, each time after a
   * longer wait.
   */
  #renew(): void {
    const poll = this.#poll;
    if (poll === undefined || poll.stopRenewal !== undefined) return;
    const { clock } = this.#options.context;
    const gap = leastGapMs * 2 ** Math.min(this.#renewals, 10);
    poll.stopRenewal = clock.after(Math.max(0, this.#startedAt + gap - clock.now()), () => {
      this.#renewals += 1;
      poll.abort.abort();
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

  #failed({ error, retryAfterMs }: Problem): number {
    const { type, poster, sink, context } = this.#options;
    const why = error instanceof XdskitError ? error : awayError(poster.server, messageOf(error));
    this.#stream.shut(why.message);
    sink.failed(type, why, false);
    const waitMs = Math.max(this.#waits.next(), retryAfterMs);
    this.#notBefore = context.clock.now() + waitMs;
    return waitMs;
  }

  #end(): void {
    this.#request = undefined;
    this.#stream.shut(undefined);
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
  return Number.isFinite(milliseconds) ? Math.max(0, Math.min(milliseconds, maxRetryAfterMs)) : 0;
}
