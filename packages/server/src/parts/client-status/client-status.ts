import { createFairQueue, type FairQueue } from "@xdskit/grpc-server";
import { statusCode } from "@xdskit/protocol";
import { RateLimit } from "../../basics/rate-limit.js";
import type { SourceTrouble } from "../../contracts/nodes/node-status.js";
import type { ReportedStream } from "../../contracts/nodes/reported-stream.js";
import type { StatusPeer } from "../../contracts/nodes/status-peers.js";
import {
  type Call,
  type LetsIn,
  type Refusal,
  type Service,
  type ServiceHandler,
  type ServiceMethod,
  unreadMs,
} from "../../contracts/transport.js";
import { nothingShown } from "../../identity/evidence.js";
import { clientStatusServiceName } from "./service-name.js";
import {
  AnswerTooLarge,
  type RevisionsById,
  type StatusPart,
  type StatusParts,
  type StatusSource,
  statusAnswer,
  statusParts,
} from "./status-answer.js";
import { askStatusPeers, type PeersStatus } from "./status-pages.js";
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
export interface ClientStatusOptions extends StatusSource {
  /** The other servers of the store that are known now. */
  readonly peers: () => readonly StatusPeer[];
  /** See `KernelOptions.nodeRevisions`. */
  readonly revisions?: ((ids: readonly string[]) => Promise<RevisionsById>) | undefined;
  /** See `KernelOptions.readsClientStatus`. */
  readonly reads?: LetsIn | undefined;
  /** Records a fault of the server. */
  fault(call: Call, error: unknown): void;
}

/**
 * Client status discovery (CSDS): the resources that each client was sent, has and rejected, from the server's point of
 * view. Nothing is kept between requests. An answer is made in slices, so that a large one does not delay streams. It
 * speaks for all servers of the store: the others are asked at the same time.
 */
export function createClientStatus(options: ClientStatusOptions): Service {
  const shared: SharedByCalls = { ...options, queue: createFairQueue((call) => call.work()), answers: new Set() };
  const method = (unary: boolean): ServiceMethod => ({
    unary,
    letsIn: options.reads,
    accept(call, caller, isLetIn) {
      const { evidence = nothingShown } = call;
      const hearsOfAll = isLetIn ?? !caller.isRestricted;
      if (!hearsOfAll && !caller.isRestricted) return needsRole;
      const reads = isLetIn ? () => options.reads?.(evidence()) : undefined;
      return new StatusCall(shared, call, { only: hearsOfAll ? undefined : caller.key, unary, reads });
    },
  });
  return {
    name: clientStatusServiceName,
    methods: { StreamClientStatus: method(false), FetchClientStatus: method(true) },
  };
}

const needsRole: Refusal = {
  code: statusCode.permissionDenied,
  message: "client status needs a role that may read: show its certificate or its token",
};

function* ofCaller(streams: StatusSource["streams"], key: string): Iterable<ReportedStream> {
  for (const stream of streams) if (stream.caller?.key === key) yield stream;
}

interface SharedByCalls extends ClientStatusOptions {
  readonly queue: FairQueue<StatusCall>;
  /** Calls whose answer is in the making, or waits for its client. Their number bounds the memory. */
  readonly answers: Set<StatusCall>;
}

/** An answer that is being made. */
interface Making {
  readonly request: StatusRequest;
  readonly own: StatusParts;
  /** Undefined if there is no other server. */
  readonly others: Promise<PeersStatus> | undefined;
}

/** What a call may hear of. */
interface CallRights {
  readonly only: string | undefined;
  readonly unary: boolean;
  readonly reads: (() => ReturnType<LetsIn>) | undefined;
}

/** One client's requests, answered in their order, each when the client has read the answers before. */
class StatusCall implements ServiceHandler {
  readonly #shared: SharedByCalls;
  readonly #call: Call;
  /** The proof of the streams that it hears of; undefined: all. */
  readonly #only: string | undefined;
  readonly #unary: boolean;
  /** Whether a client that was let in for what it may read still may; undefined: a rule knows it. */
  readonly #reads: CallRights["reads"];
  readonly #rate = new RateLimit(most.perSecond, most.burst);
  readonly #waiting: Uint8Array[] = [];
  #answer: Making | undefined;
  #unread: NodeJS.Timeout | undefined;
  #finished = false;
  #over = false;
  #isJudging = false;

  constructor(shared: SharedByCalls, call: Call, { only, unary, reads }: CallRights) {
    this.#shared = shared;
    this.#only = only;
    this.#call = call;
    this.#unary = unary;
    this.#reads = reads;
  }

  received(bytes: Uint8Array): void {
    if (this.#over) return;
    if (bytes.byteLength > most.requestBytes) {
      this.#end(statusCode.resourceExhausted, `a client status request of more than ${most.requestBytes} bytes`);
    } else if (this.#waiting.length >= most.waiting || !this.#rate.take(performance.now())) {
      this.#end(statusCode.resourceExhausted, `more than ${most.perSecond} client status requests per second`);
    } else {
      // The bytes are only valid during the call.
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
    const making = this.#answer;
    if (making === undefined) return;
    try {
      const { done, value } = making.own.next();
      if (!done) this.#shared.queue.add(this, "answers");
      else if (making.others === undefined && this.#revisions(making) === undefined)
        this.#answerWith(making, value.parts);
      else this.#answerLater(making, value.parts).catch((error) => this.#failed(error));
    } catch (error) {
      this.#failed(error);
    }
  }

  /** Who knows the revisions of nodes; undefined: nobody, or nobody asks. */
  #revisions({ request }: Making): ClientStatusOptions["revisions"] {
    return request.revisions ? this.#shared.revisions : undefined;
  }

  async #answerLater(making: Making, own: readonly StatusPart[]): Promise<void> {
    const others = await making.others;
    const ids = new Set([own, ...(others?.parts ?? [])].flatMap((parts) => parts.map(({ id }) => id)));
    // How each node is matters more.
    const revisions = await this.#revisions(making)?.([...ids]).catch(() => undefined);
    this.#answerWith(making, own, others, revisions);
  }

  #answerWith(
    making: Making,
    own: readonly StatusPart[],
    others: PeersStatus = { parts: [], troubles: [] },
    revisions?: RevisionsById,
  ): void {
    if (this.#answer !== making) return;
    const { maxBytes, troubles } = this.#shared;
    const { request } = making;
    try {
      const all = this.#only !== undefined ? [] : distinct([...troubles(), ...others.troubles]);
      this.#send(statusAnswer([own, ...others.parts], all, { maxBytes, request, revisions }));
    } catch (error) {
      this.#failed(error);
    }
  }

  #failed(error: unknown): void {
    if (error instanceof AnswerTooLarge) {
      this.#end(statusCode.resourceExhausted, error.message);
      return;
    }
    this.#shared.fault(this.#call, error);
    this.#end(statusCode.internal, "internal error");
  }

  #next(): void {
    if (this.#over || this.#answer !== undefined || this.#unread !== undefined || this.#isJudging) return;
    const bytes = this.#waiting.shift();
    if (bytes !== undefined) this.#judged(() => this.#begin(readStatusRequest(bytes), bytes));
    else if (this.#finished) this.#end(statusCode.ok, "");
  }

  /** What lets a client in may end, or be taken away, while the stream is open: it counts at each request. */
  #judged(begin: () => void): void {
    const decide = (may: boolean | undefined) => {
      this.#isJudging = false;
      if (this.#over) return;
      if (may === true) begin();
      else this.#end(needsRole.code, needsRole.message);
    };
    const may = this.#reads === undefined ? true : this.#reads();
    if (!(may instanceof Promise)) {
      decide(may);
      return;
    }
    this.#isJudging = true;
    may.then(decide, (error) => this.#failed(error));
  }

  #begin(request: StatusRequest | string, asked: Uint8Array): void {
    const { answers, queue, maxBytes } = this.#shared;
    if (typeof request === "string") {
      this.#end(statusCode.invalidArgument, request);
    } else if (answers.size >= most.answers) {
      const message = `${answers.size} client status answers are being made or read: try again later`;
      this.#end(statusCode.resourceExhausted, message);
    } else {
      answers.add(this);
      // They would answer about everybody's nodes.
      const peers = this.#only !== undefined ? [] : this.#shared.peers();
      const others = peers.length === 0 ? undefined : askStatusPeers(peers, asked, maxBytes);
      // It may fail before the own part is made.
      others?.catch(() => {});
      this.#answer = { request, own: statusParts({ ...this.#shared, streams: this.#streams }, request), others };
      queue.add(this, "answers");
    }
  }

  /** A caller that may be only some nodes hears of streams that were opened with what it proves. */
  get #streams(): StatusSource["streams"] {
    const { streams } = this.#shared;
    return this.#only === undefined ? streams : ofCaller(streams, this.#only);
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

  /** The client has read the answer, or is gone. */
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

/** Servers with the same folder have the same trouble with it. */
function distinct(troubles: readonly SourceTrouble[]): readonly SourceTrouble[] {
  return [...new Map(troubles.map((one) => [JSON.stringify(one), one])).values()];
}
