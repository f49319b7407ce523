import { equalBytes } from "../messages/equal-bytes.js";
import { delimited, WireReader } from "../messages/wire-reader.js";

/** What a response makes of what is held. */
export interface Outcome<Held extends object> {
  readonly to: Held;
  readonly resources: number;
  readonly removed: number;
  readonly problem: string | undefined;
}

const nonceTag = delimited(5);

/** What became of a holding when this response came. Others get the same one with another nonce: it is compared, and not read. */
export class Transition<Held extends object> {
  readonly #bytes: Uint8Array;
  readonly #nonceStart: number;
  readonly #nonceEnd: number;
  readonly #resources: number;
  readonly #removed: number;
  readonly #problem: string | undefined;
  /** Weak: from the empty one on, each would keep the next, and so all that ever were. */
  readonly #to: WeakRef<Held>;

  constructor(bytes: Uint8Array, { to, resources, removed, problem }: Outcome<Held>) {
    this.#bytes = bytes.slice();
    [this.#nonceStart, this.#nonceEnd] = placeOfNonce(bytes);
    this.#to = new WeakRef(to);
    this.#resources = resources;
    this.#removed = removed;
    this.#problem = problem;
  }

  get outcome(): Outcome<Held> | undefined {
    const to = this.#to.deref();
    if (to === undefined) return undefined;
    return { to, resources: this.#resources, removed: this.#removed, problem: this.#problem };
  }

  /** The nonce, where the rest is the same. */
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

/** Where the nonce's field lies; at the end, with no length, where there is none. */
function placeOfNonce(bytes: Uint8Array): readonly [start: number, end: number] {
  const reader = new WireReader(bytes);
  let place: readonly [number, number] = [bytes.length, bytes.length];
  while (!reader.atEnd) {
    const start = reader.position;
    const tag = reader.tag();
    reader.skip(tag);
    if (tag === nonceTag) place = [start, reader.position];
  }
  return place;
}
