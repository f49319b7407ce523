import { performance } from "node:perf_hooks";
import type { Clock, ResourceType } from "@xdskit/api";
import type { OutgoingResponse, StatusCode } from "@xdskit/protocol";
import { RateLimit } from "../basics/rate-limit.js";
import type { StreamInfo } from "../contracts/nodes/stream-info.js";
import type { DiscoveryCall, PeerIdentity } from "../contracts/transport.js";
import type { Counters, StreamCounter } from "../publication/counters.js";
import type { ServerLimits } from "../settings/limits.js";

/** The bytes of a message that gRPC's clients take unless they are told otherwise. */
const usualMessageBytes = 4 * 1024 * 1024;

/**
 * `open`: the client may ask. `half-closed`: it asks nothing more, and gets what it asked for. `over`: it gets nothing
 * more, and may still have to read. `gone`: nobody waits for it.
 */
type CallPhase = "open" | "half-closed" | "over" | "gone";

/** What a call is made of. */
interface CallContext {
  readonly clock: Clock;
  readonly counters: Counters;
  readonly limits: Pick<ServerLimits, "requestsPerSecond" | "requestBurst">;
}

/** The call of a stream: how far it is, whether its connection takes another response, and what is counted of it. */
export class StreamCall {
  readonly #call: DiscoveryCall;
  readonly #counter: StreamCounter;
  readonly #rate: RateLimit;
  /** Identifies the stream, also before its node is known. */
  readonly info: StreamInfo;
  /** Milliseconds since 1970. */
  readonly openedAt = Date.now();
  /** When it was opened, in milliseconds of the server's clock. */
  readonly openedTime: number;
  #phase: CallPhase = "open";
  #hasRoom = true;
  #large: { readonly type: ResourceType; readonly bytes: number } | undefined;

  constructor(call: DiscoveryCall, id: number, { clock, counters, limits }: CallContext) {
    const { method, peer } = call;
    this.#call = call;
    this.info = { id, method, peer };
    this.#counter = counters.stream(method);
    this.#rate = new RateLimit(limits.requestsPerSecond, limits.requestBurst);
    this.openedTime = clock.now();
    this.#counter.open += 1;
    this.#counter.opened += 1;
  }

  /** Nothing goes in or out any more. */
  get isOver(): boolean {
    return this.#phase === "over" || this.#phase === "gone";
  }

  /** Another response may be sent. */
  get hasRoom(): boolean {
    return this.#hasRoom && !this.isOver;
  }

  /** The client has all that it asked for, and asks nothing more. */
  get isDone(): boolean {
    return this.#phase === "half-closed" && this.#hasRoom;
  }

  /** A response that many clients do not take, while the client says nothing. */
  get unansweredLarge(): { readonly type: ResourceType; readonly bytes: number } | undefined {
    return this.isOver ? undefined : this.#large;
  }

  get identity(): PeerIdentity | undefined {
    return this.#call.identity?.();
  }

  /** Counts a request. False: they are more than a stream may send. */
  countRequest(bytes: Uint8Array): boolean {
    this.#counter.requests += 1;
    this.#counter.requestBytes += bytes.byteLength;
    this.#large = undefined;
    return this.#rate.take(performance.now());
  }

  /** Call it only while there is room. */
  send({ type, body, tail }: OutgoingResponse): void {
    const bytes = body.bytes.byteLength + tail.byteLength;
    if (bytes > usualMessageBytes) this.#large = { type, bytes };
    if (this.#call.send(body.bytes, tail, body)) return;
    this.#hasRoom = false;
    this.#counter.behind += 1;
  }

  /** There is room again. False: nobody waited for it. */
  drained(): boolean {
    if (this.#hasRoom) return false;
    this.#hasRoom = true;
    this.#counter.behind -= 1;
    return !this.isOver;
  }

  /** The client half-closes. */
  finished(): void {
    if (this.#phase === "open") this.#phase = "half-closed";
  }

  /** False: it was over before. */
  end(): boolean {
    if (this.isOver) return false;
    this.#phase = "over";
    return true;
  }

  /** Tells the client how it ended. */
  close(code: StatusCode, message: string): void {
    this.#call.end(code, message);
  }

  /** False: it was gone before. */
  leave(): boolean {
    if (this.#phase === "gone") return false;
    this.#phase = "gone";
    this.drained();
    this.#counter.open -= 1;
    return true;
  }
}
