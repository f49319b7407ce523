import type { StatusCode } from "@xdskit/protocol";
import type { Call, CallHandler, Refusal } from "../contracts/transport.js";
import type { DelayedCall, IdentityShare } from "./identity-share.js";
import { PendingMessages } from "./pending-messages.js";

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
  #pending: PendingMessages | undefined;
  #isFinished = false;
  #isOver = false;

  constructor(call: Pick<Call, "end">, handler: CallHandler, of: CallShare) {
    this.#call = call;
    this.#handler = handler;
    this.#of = of;
  }

  get isInSync(): boolean | undefined {
    return this.#handler.isInSync;
  }

  received(bytes: Uint8Array): void {
    if (this.#isOver) return;
    if (this.#pending === undefined && this.#of.share.takes()) this.#handler.received(bytes);
    else this.#wait(bytes);
  }

  #wait(bytes: Uint8Array): void {
    const { share, late, refuse } = this.#of;
    this.#pending ??= new PendingMessages(most);
    if (share.hold(bytes.byteLength)) {
      if (this.#pending.add(bytes)) {
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
    const bytes = this.#pending?.take();
    if (bytes === undefined) return false;
    this.#of.share.release(bytes.byteLength);
    const isLast = this.#pending?.isEmpty === true;
    if (isLast) this.#pending = undefined;
    this.#handler.received(bytes);
    if (isLast && this.#isFinished && !this.#isOver) this.#handler.finished();
    return !isLast && !this.#isOver;
  }

  drained(): void {
    this.#handler.drained();
  }

  finished(): void {
    this.#isFinished = true;
    if (this.#pending === undefined && !this.#isOver) this.#handler.finished();
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
    for (const { byteLength } of this.#pending?.takeAll() ?? []) this.#of.share.release(byteLength);
    this.#pending = undefined;
    this.#of.share.left(this);
  }
}
