const smallest = 512;
const largest = 65_536;

/** Bytes that can be copied. */
interface WrittenBody {
  readonly length: number;
  /** Copies them to the beginning of `target`. */
  copyTo(target: Uint8Array): void;
}

/** Memory for the bodies of resources. Several share one piece, and each keeps it alive. */
export interface BodyMemory {
  /** A copy of the bytes. */
  take(written: WrittenBody): Uint8Array;
}

/** For files that are read and kept together: in a folder of small files each has one resource. */
export function createBodyMemory(): BodyMemory {
  return new BodySlabs();
}

/**
 * Memory for the bodies of one file's resources in shared pieces, since a buffer of its own costs more than a small
 * body. The first body is alone and pieces grow from there, so a file with one resource wastes nothing.
 */
export class BodySlabs implements BodyMemory {
  private slab: ArrayBuffer | undefined;
  private at = 0;
  private size = 0;

  take(written: WrittenBody): Uint8Array {
    const body = this.place(written.length);
    written.copyTo(body);
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
