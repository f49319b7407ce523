import { type StatusCode, statusCode } from "@xdskit/protocol";
import type { Call, CallHandler, Refusal } from "../contracts/transport.js";
import { PendingMessages } from "./pending-messages.js";

/** What a client may send before it is known who it is: a first message, and a few small ones. */
const most = { messages: 16, bytes: 256 * 1024 } as const;

/** Holds what a client sends until it is known who it is, and gives it to the handler of the call then. */
export class UnprovenCall implements CallHandler {
  readonly #call: Call;
  readonly #fault: (error: unknown) => void;
  #left: () => void;
  readonly #waiting = new PendingMessages(most);
  #isFinished = false;
  #isOver = false;
  #handler: CallHandler | undefined;

  /** `left`: it waits no more. Called once. `fault`: the server failed to take it over. */
  constructor(call: Call, left: () => void, fault: (error: unknown) => void) {
    this.#call = call;
    this.#fault = fault;
    this.#left = left;
  }

  /** It is known: `accept` takes over, unless the call is gone. */
  decided(accept: () => CallHandler | Refusal): void {
    if (this.#isOver) return;
    const handler = this.#accepted(accept);
    if ("code" in handler) {
      this.end(handler.code, handler.message);
      return;
    }
    this.#leave();
    this.#handler = handler;
    for (const message of this.#waiting.takeAll()) if (!this.#isOver) handler.received(message);
    if (this.#isFinished && !this.#isOver) handler.finished();
  }

  /** Nobody else would catch a fault here: who calls became known in a turn of its own. */
  #accepted(accept: () => CallHandler | Refusal): CallHandler | Refusal {
    try {
      return accept();
    } catch (error) {
      this.#fault(error);
      return { code: statusCode.internal, message: "the server failed to take over the call" };
    }
  }

  get isInSync(): boolean | undefined {
    return this.#handler?.isInSync;
  }

  received(bytes: Uint8Array): void {
    if (this.#handler !== undefined) {
      this.#handler.received(bytes);
      return;
    }
    if (this.#isOver || this.#waiting.add(bytes)) return;
    this.end(statusCode.resourceExhausted, "too much was sent before it was known who sends it");
  }

  drained(): void {
    this.#handler?.drained();
  }

  finished(): void {
    this.#isFinished = true;
    this.#handler?.finished();
  }

  closed(): void {
    this.#isOver = true;
    this.#waiting.takeAll();
    this.#handler?.closed();
    this.#leave();
  }

  #leave(): void {
    const left = this.#left;
    this.#left = () => {};
    left();
  }

  /** Ends the call, unless a handler has it. */
  end(code: StatusCode, message: string): void {
    if (this.#handler !== undefined || this.#isOver) return;
    this.#isOver = true;
    this.#waiting.takeAll();
    this.#call.end(code, message);
  }
}
