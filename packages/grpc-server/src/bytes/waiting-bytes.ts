import { giveMemory, takeMemory } from "./spare-memory.js";

/** The most memory, in multiples of the bytes that came. */
const maxGrowth = 8;

/** The beginning of something whose rest has not come: a copy, in memory with room for more. */
export class WaitingBytes {
  #memory: Buffer = nothing;
  /** The length of memory that was asked for. */
  #capacity = 0;
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** The bytes of memory that they take. It may be a step of the spare memory longer. */
  get capacity(): number {
    return this.#capacity;
  }

  /** The bytes so far; valid until the next call of `add` or `release`. */
  get bytes(): Buffer {
    return this.#memory.subarray(0, this.#length);
  }

  /**
   * Adds a copy of the bytes. `needed` is the length of the whole, if it is known: then there is room for it at once,
   * unless that is much more than came. Otherwise the room doubles, so that small parts are not copied for each of
   * them.
   */
  add(bytes: Buffer, needed: number | undefined): void {
    const length = this.#length + bytes.length;
    if (length > this.#capacity) {
      const before = this.#memory;
      const room = needed === undefined ? 2 * this.#capacity : Math.min(needed, maxGrowth * length);
      this.#capacity = Math.max(length, room);
      this.#memory = takeMemory(this.#capacity);
      before.copy(this.#memory, 0, 0, this.#length);
      giveMemory(before);
    }
    bytes.copy(this.#memory, this.#length);
    this.#length = length;
  }

  /** Forgets the bytes, and gives their memory back. */
  release(): void {
    const before = this.#memory;
    this.#memory = nothing;
    this.#capacity = 0;
    this.#length = 0;
    giveMemory(before);
  }
}

const nothing = Buffer.alloc(0);
