import type { Encoding } from "./encoding.js";

const smallest = 512;
const largest = 65_536;

/** Memory for the bodies of resources, several in one piece, which each of them keeps. */
export interface BodyMemory {
  /** A copy of what was written. */
  take(encoding: Encoding): Uint8Array;
}

/** For the bodies of files that are read and kept together: a folder of small files has one resource in each. */
export function createBodyMemory(): BodyMemory {
  return new BodySlabs();
}

/**
 * Memory for the bodies of the resources of one file, several in one piece: each by itself costs more than it holds. A file is read as a whole, so that
 * they go together as well. The first is by itself, and pieces grow from there: a file with one resource keeps nothing else.
 */
export class BodySlabs implements BodyMemory {
  private slab: ArrayBuffer | undefined;
  private at = 0;
  private size = 0;

  take(encoding: Encoding): Uint8Array {
    const { length } = encoding;
    const body = this.place(length);
    encoding.copyTo(body);
    return body;
  }

  private place(length: number): Uint8Array {
    if (this.size === 0 || length > largest / 4) {
      this.size = Math.max(this.size, smallest);
      return new Uint8Array(length);
    }
    if (this.slab === undefined || this.at + length > this.slab.byteLength) {
      this.size = Math.min(2 * this.size, largest);
      this.slab = new ArrayBuffer(Math.max(this.size, length));
      this.at = 0;
    }
    const start = this.at;
    this.at += length;
    return new Uint8Array(this.slab, start, length);
  }
}
