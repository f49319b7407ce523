/** What one stream is to send and has no room for: whole messages in parts that may be shared, of which nothing is copied before it goes. */
export interface OutgoingQueue {
  /** Bytes that wait. */
  readonly bytes: number;
  push(part: Uint8Array): void;
  /** Moves so many bytes to a place; no more than wait. */
  take(target: Buffer, at: number, length: number): void;
  clear(): void;
}

export function createOutgoingQueue(): OutgoingQueue {
  let parts: Uint8Array[] = [];
  let next = 0;
  /** How much of the next part is gone already. */
  let offset = 0;
  let bytes = 0;
  return {
    get bytes() {
      return bytes;
    },
    push(part) {
      if (part.length === 0) return;
      parts.push(part);
      bytes += part.length;
    },
    take(target, at, length) {
      let left = length;
      let place = at;
      while (left > 0) {
        const part = parts[next] as Uint8Array;
        const rest = part.length - offset;
        if (rest > left) {
          target.set(part.subarray(offset, offset + left), place);
          offset += left;
          left = 0;
        } else {
          target.set(offset === 0 ? part : part.subarray(offset), place);
          place += rest;
          left -= rest;
          next += 1;
          offset = 0;
        }
      }
      bytes -= length;
      if (next === parts.length) {
        parts = [];
        next = 0;
      } else if (next > 64) {
        parts = parts.slice(next);
        next = 0;
      }
    },
    clear() {
      parts = [];
      next = 0;
      offset = 0;
      bytes = 0;
    },
  };
}
