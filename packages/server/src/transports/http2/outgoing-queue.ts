import type { Output } from "./output.js";

const nothing: Uint8Array[] = [];

/** What one stream is to send and has no room for: whole messages in parts that may be shared, of which nothing is copied before it goes. */
export class OutgoingQueue {
  #parts = nothing;
  #next = 0;
  /** How much of the next part is gone already. */
  #offset = 0;
  /** Bytes that wait. */
  bytes = 0;

  push(part: Uint8Array): void {
    if (part.length === 0) return;
    if (this.#parts === nothing) this.#parts = [];
    this.#parts.push(part);
    this.bytes += part.length;
  }

  /** Moves so many bytes out; no more than wait. */
  move(output: Output, length: number): void {
    this.bytes -= length;
    let left = length;
    while (left > 0) {
      const part = this.#parts[this.#next] as Uint8Array;
      const rest = part.length - this.#offset;
      if (rest > left) {
        output.put(part.subarray(this.#offset, this.#offset + left));
        this.#offset += left;
        left = 0;
      } else {
        output.put(this.#offset === 0 ? part : part.subarray(this.#offset));
        left -= rest;
        this.#next += 1;
        this.#offset = 0;
      }
    }
    if (this.bytes === 0) this.clear();
    else if (this.#next > 64) {
      this.#parts.splice(0, this.#next);
      this.#next = 0;
    }
  }

  clear(): void {
    this.#parts = nothing;
    this.#next = 0;
    this.#offset = 0;
    this.bytes = 0;
  }
}
