import { createFairQueue, type FairQueue } from "@xdskit/grpc-server";
import { statusCode } from "@xdskit/protocol";
import { createRateLimit } from "../basics/rate-limit.js";
import type { Call, Refusal, Service, ServiceHandler, ServiceMethod } from "../contracts/transport.js";
import { clientStatusServiceName } from "./service-name.js";
import { AnswerTooLarge, type StatusSource, statusAnswer } from "./status-answer.js";
import { readStatusRequest, type StatusRequest } from "./status-request.js";

/** People and dashboards ask, at most once a second; an answer may be large and waits for its client. */
const most = {
  answers: 4,
  waiting: 10,
  smallBytes: 64 * 1024,
  requestBytes: 1024 * 1024,
  perSecond: 5,
  burst: 20,
} as const;
/** How long a client of a stream may take to read an answer. */
const unreadMs = 30_000;

export interface ClientStatusOptions extends StatusSource {
  /** Notes down a fault of the server's own. */
  fault(call: Call, error: unknown): void;
}

/**
 * Client status discovery (CSDS): what each client was sent, has and rejected, from the server's point of view.
 * Nothing is kept between requests. An answer is made in slices, so that a large one does not delay streams.
 */
export function createClientStatus(options: ClientStatusOptions): Service {
  const shared: Shared = { ...options, queue: createFairQueue((call) => call.work()), answers: new Set() };
  const method = (unary: boolean): ServiceMethod => ({ unary, accept: (call) => new StatusCall(shared, call, unary) });
  return {
    name: clientStatusServiceName,
    methods: { StreamClientStatus: method(false), FetchClientStatus: method(true) },
  };
}

interface Shared extends ClientStatusOptions {
  readonly queue: FairQueue<StatusCall>;
  /** Calls whose answer is being made, or waits for its client: the memory that all of them take. */
  readonly answers: Set<StatusCall>;
}

/** One client's requests, answered in their order, each when the client has read the answers before. */
class StatusCall implements ServiceHandler {
  readonly #shared: Shared;
  readonly #call: Call;
  readonly #unary: boolean;
  readonly #rate = createRateLimit(most.perSecond, most.burst);
  readonly #waiting: Uint8Array[] = [];
  #answer: Generator<undefined, Uint8Array> | undefined;
  #unread: NodeJS.Timeout | undefined;
  #finished = false;
  #over = false;

  constructor(shared: Shared, call: Call, unary: boolean) {
    this.#shared = shared;
    this.#call = call;
    this.#unary = unary;
  }

  received(bytes: Uint8Array): void {
    if (this.#over) return;
    if (bytes.byteLength > most.requestBytes) {
      this.#end(statusCode.resourceExhausted, `a client status request of more than ${most.requestBytes} bytes`);
    } else if (this.#waiting.length >= most.waiting || !this.#rate.take(performance.now())) {
      this.#end(statusCode.resourceExhausted, `more than ${most.perSecond} client status requests per second`);
    } else {
      // They are only lent.
      this.#waiting.push(new Uint8Array(bytes));
      this.#next();
    }
  }

  finished(): void {
    this.#finished = true;
    this.#next();
  }

  drained(): void {
    if (this.#unread === undefined) return;
    this.#read();
    this.#next();
  }

  closed(): void {
    this.#over = true;
    this.#answer = undefined;
    this.#shared.queue.delete(this);
    this.#read();
  }

  stop(): void {
    this.#end(statusCode.ok, "");
  }

  /** Makes a part of the answer. Called by the queue. */
  work(): void {
    if (this.#answer === undefined) return;
    try {
      const { done, value } = this.#answer.next();
      if (!done) this.#shared.queue.add(this, "answers");
      else this.#send(value);
    } catch (error) {
      if (error instanceof AnswerTooLarge) {
        this.#end(statusCode.resourceExhausted, error.message);
        return;
      }
      this.#shared.fault(this.#call, error);
      this.#end(statusCode.internal, "internal error");
    }
  }

  #next(): void {
    if (this.#over || this.#answer !== undefined || this.#unread !== undefined) return;
    const bytes = this.#waiting.shift();
    if (bytes !== undefined) this.#begin(readStatusRequest(bytes));
    else if (this.#finished) this.#end(statusCode.ok, "");
  }

  #begin(request: StatusRequest | string): void {
    const { answers, queue } = this.#shared;
    if (typeof request === "string") {
      this.#end(statusCode.invalidArgument, request);
    } else if (answers.size >= most.answers) {
      const message = `${answers.size} client status answers are being made or read: try again later`;
      this.#end(statusCode.resourceExhausted, message);
    } else {
      answers.add(this);
      this.#answer = statusAnswer(this.#shared, request);
      queue.add(this, "answers");
    }
  }

  #send(answer: Uint8Array): void {
    this.#answer = undefined;
    const room = this.#call.send(answer, nothing);
    if (this.#unary) {
      // A large one counts until its client has read it, or is gone.
      if (answer.byteLength <= most.smallBytes) this.#read();
      this.#over = true;
      this.#call.end(statusCode.ok, "");
    } else if (room) {
      this.#read();
      this.#next();
    } else {
      const late = () => this.#end(statusCode.resourceExhausted, `the answer was not read within ${unreadMs} ms`);
      this.#unread = setTimeout(late, unreadMs).unref();
    }
  }

  /** Nothing of it waits for the client any more. */
  #read(): void {
    clearTimeout(this.#unread);
    this.#unread = undefined;
    this.#shared.answers.delete(this);
  }

  #end(code: Refusal["code"], message: string): void {
    if (this.#over) return;
    this.#over = true;
    this.#waiting.length = 0;
    this.#answer = undefined;
    this.#shared.queue.delete(this);
    if (this.#unread === undefined) this.#shared.answers.delete(this);
    this.#call.end(code, message);
  }
}

const nothing = new Uint8Array();
