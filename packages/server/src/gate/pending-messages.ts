/** Messages of a call that wait until its handler may have them. */
export class PendingMessages {
  readonly #most: { readonly messages: number; readonly bytes: number };
  #messages: Uint8Array[] = [];

  /** `most.bytes`: of all but the first, which may be as large as any request. */
  constructor(most: { readonly messages: number; readonly bytes: number }) {
    this.#most = most;
  }

  get isEmpty(): boolean {
    return this.#messages.length === 0;
  }

  /** False: there is no room. */
  add(bytes: Uint8Array): boolean {
    const { messages, bytes: most } = this.#most;
    if (this.#messages.length >= messages) return false;
    const [, ...behind] = [...this.#messages, bytes];
    if (behind.reduce((sum, { byteLength }) => sum + byteLength, 0) > most) return false;
    // The bytes are only good until the call returns.
    this.#messages.push(new Uint8Array(bytes));
    return true;
  }

  take(): Uint8Array | undefined {
    return this.#messages.shift();
  }

  takeAll(): readonly Uint8Array[] {
    const all = this.#messages;
    this.#messages = [];
    return all;
  }
}
