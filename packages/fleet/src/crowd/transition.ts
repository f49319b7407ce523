import { delimited, WireReader } from "@xdskit/api/wire";
import { equalBytes } from "@xdskit/protocol/wire";

/** The result of a response for what is there. */
export interface TransitionOutcome<State extends object> {
  readonly to: State;
  readonly resources: number;
  readonly removed: number;
  readonly problem: string | undefined;
}

const nonceTag = delimited(5);

/**
 * The recorded result of a response. Other clients get the same response with another nonce: it is compared, not read.
 */
export class CrowdTransition<State extends object> {
  readonly #bytes: Uint8Array;
  readonly #nonceStart: number;
  readonly #nonceEnd: number;
  readonly #resources: number;
  readonly #removed: number;
  readonly #problem: string | undefined;
  /** Weak: otherwise each state would keep the next one, and so all of them. */
  readonly #to: WeakRef<State>;

  constructor(bytes: Uint8Array, { to, resources, removed, problem }: TransitionOutcome<State>) {
    // Not `slice`: a `Buffer` would share its memory, which is only lent.
    this.#bytes = new Uint8Array(bytes);
    [this.#nonceStart, this.#nonceEnd] = placeOfNonce(bytes);
    this.#to = new WeakRef(to);
    this.#resources = resources;
    this.#removed = removed;
    this.#problem = problem;
  }

  get outcome(): TransitionOutcome<State> | undefined {
    const to = this.#to.deref();
    if (to === undefined) return undefined;
    return { to, resources: this.#resources, removed: this.#removed, problem: this.#problem };
  }

  /** The nonce, if the rest is equal. */
  nonceOf(bytes: Uint8Array): string | undefined {
    const start = this.#nonceStart;
    const tail = this.#bytes.length - this.#nonceEnd;
    const end = bytes.length - tail;
    if (end < start || !equalBytes(bytes, 0, this.#bytes, 0, start)) return undefined;
    if (!equalBytes(bytes, end, this.#bytes, this.#nonceEnd, tail)) return undefined;
    if (end === start) return "";
    const reader = new WireReader(bytes, { start, end });
    if (bytes[start] !== nonceTag) return undefined;
    reader.tag();
    const nonce = reader.string();
    return reader.atEnd ? nonce : undefined;
  }
}

/** Where the nonce's field is; at the end with length 0, if there is none. */
function placeOfNonce(bytes: Uint8Array): readonly [start: number, end: number] {
  const reader = new WireReader(bytes);
  let position: readonly [number, number] = [bytes.length, bytes.length];
  while (!reader.atEnd) {
    const start = reader.position;
    const tag = reader.tag();
    reader.skip(tag);
    if (tag === nonceTag) position = [start, reader.position];
  }
  return position;
}
