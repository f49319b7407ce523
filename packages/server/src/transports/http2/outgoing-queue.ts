import type { ResponseBody } from "@xdskit/protocol";
import type { Output } from "./output.js";

/** Bytes that need not be kept, since they can be had again. */
export type Again = Pick<ResponseBody, "length" | "atHand" | "rest">;

type Part = Uint8Array | Again;

const nothing: Part[] = [];
const noBytes = new Uint8Array(0);

/** What one stream is to send and has no room for: whole messages in parts that may be shared, of which nothing is copied before it goes. */
export class OutgoingQueue {
  #parts = nothing;
  #next = 0;
  /** How much of the next part is gone already. */
  #offset = 0;
  /** What follows in the next part, once its bytes were gone: and what came of that and has not gone. */
  #rest: Iterator<Uint8Array> | undefined;
  #piece: Uint8Array = noBytes;
  /** What can be made again is made again, whether it is at hand or not, so that nobody who keeps what comes out keeps all of it. */
  isSparing = false;
  /** Bytes that wait. */
  bytes = 0;

  push(part: Part): void {
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
      const part = this.#parts[this.#next] as Part;
      const size = Math.min(left, part.length - this.#offset);
      this.#put(output, part, size);
      left -= size;
      this.#offset += size;
      if (this.#offset === part.length) {
        this.#next += 1;
        this.#offset = 0;
        this.#rest = undefined;
        this.#piece = noBytes;
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
    this.#rest = undefined;
    this.#piece = noBytes;
    this.bytes = 0;
    this.isSparing = false;
  }

  /** So many bytes of the next part, from where it is. */
  #put(output: Output, part: Part, size: number): void {
    if (this.#rest === undefined) {
      const bytes = part instanceof Uint8Array ? part : this.isSparing ? undefined : part.atHand;
      if (bytes !== undefined) {
        const from = this.#offset;
        output.put(size === bytes.length ? bytes : bytes.subarray(from, from + size));
        return;
      }
      this.#rest = (part as Again).rest(this.#offset);
    }
    for (let left = size; left > 0; ) {
      if (this.#piece.length === 0) this.#piece = this.#rest.next().value as Uint8Array;
      const piece = this.#piece;
      const most = Math.min(left, piece.length);
      output.put(most === piece.length ? piece : piece.subarray(0, most));
      this.#piece = piece.subarray(most);
      left -= most;
    }
  }
}
