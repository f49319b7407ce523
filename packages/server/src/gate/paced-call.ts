import type { StatusCode } from "@xdskit/protocol";
import type { Call, CallHandler, Refusal } from "../contracts/transport.js";
import { HeldMessages } from "./held-messages.js";
import type { DelayedCall, IdentityShare } from "./identity-share.js";

/** What one call may have waiting: more than a client sends that waits for answers. */
const most = { messages: 64, bytes: 256 * 1024 } as const;

/** What a call has of the share of its identity. */
export interface CallShare {
  readonly share: IdentityShare;
  /** A request waits, because its identity sent too many. */
  readonly late: () => void;
  /** Says why the call ends of which too many wait. */
  readonly refuse: () => Refusal;
  /** The call is gone. */
  readonly close: () => void;
}

/** A call of a caller with an identity: its requests come no faster than those of one identity may. */
export class PacedCall implements CallHandler, DelayedCall {
  readonly #call: Pick<Call, "end">;
  readonly #handler: CallHandler;
  readonly #of: CallShare;
  /** Most calls never wait. */
  #held: HeldMessages | undefined;
  #isFinished = false;
  #isOver = false;

  constructor(call: Pick<Call, "end">, handler: CallHandler, of: CallShare) {
    this.#call = call;
    this.#handler = handler;
    this.#of = of;
  }

  get isSettled(): boolean | undefined {
    return this.#handler.isSettled;
  }

  received(bytes: Uint8Array): void {
    if (this.#isOver) return;
    if (this.#held === undefined && this.#of.share.takes()) this.#handler.received(bytes);
    else this.#wait(bytes);
  }

  #wait(bytes: Uint8Array): void {
    const { share, late, refuse } = this.#of;
    this.#held ??= new HeldMessages(most);
    if (share.hold(bytes.byteLength)) {
      if (this.#held.add(bytes)) {
        late();
        share.wait(this);
        return;
      }
      share.release(bytes.byteLength);
    }
    const { code, message } = refuse();
    this.#drop();
    this.end(code, message);
  }

  next(): boolean {
    const bytes = this.#held?.take();
    if (bytes === undefined) return false;
    this.#of.share.release(bytes.byteLength);
    const isLast = this.#held?.isEmpty === true;
    if (isLast) this.#held = undefined;
    this.#handler.received(bytes);
    if (isLast && this.#isFinished && !this.#isOver) this.#handler.finished();
    return !isLast && !this.#isOver;
  }

  drained(): void {
    this.#handler.drained();
  }

  finished(): void {
    this.#isFinished = true;
    if (this.#held === undefined && !this.#isOver) this.#handler.finished();
  }

  closed(): void {
    this.#drop();
    this.#of.close();
    this.#handler.closed();
  }

  end(code: StatusCode, message: string): void {
    if (this.#handler.end === undefined) this.#call.end(code, message);
    else this.#handler.end(code, message);
  }

  #drop(): void {
    this.#isOver = true;
    for (const { byteLength } of this.#held?.takeAll() ?? []) this.#of.share.release(byteLength);
    this.#held = undefined;
    this.#of.share.left(this);
  }
}
