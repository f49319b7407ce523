import { frameHeadBytes, frameType, putFrameHead } from "./frames.js";
import { ConnectionError, http2Error } from "./http2-errors.js";

/** What became of bytes that were written: the socket needs them no more; or keeps them, and has room for more; or has none until it says so. */
export type Written = "gone" | "kept" | "full";

/** Small frames are put here, so that they cost no memory of their own, and go out as one. */
const slabBytes = 16 * 1024;
/** Smaller parts are copied: that costs less than a chunk of its own. */
const sharedBytes = 2 * 1024;
/** Bytes of answers that a client may provoke and not read, once the socket took all that it takes. */
const mostUnread = 64 * 1024;
/** So much is gathered at most before it is written. */
const mostGathered = 256 * 1024;

const noChunks: Buffer[] = [];

/** Memory for frames that wait for the end of a turn, for all connections of a transport. Where the socket took everything at once, which is the rule, it is used again. */
export class Slab {
  bytes: Buffer = Buffer.allocUnsafeSlow(slabBytes);
  used = 0;

  /** Room for so many bytes in one piece, from `used` on. */
  reserve(length: number): void {
    if (this.used + length <= this.bytes.length) return;
    // What was in the old one is still with a socket, and goes with it.
    this.bytes = Buffer.allocUnsafeSlow(Math.max(slabBytes, length));
    this.used = 0;
  }
}

/** Where what is gathered goes. */
export interface OutputHost {
  /** Where small frames are put until they are written; connections may share one. */
  readonly slab: Slab;
  /** Writes bytes as one. Those that are not gone afterwards are the socket's from then on; after `full` it calls `drained`. */
  write(chunks: readonly Buffer[]): Written;
}

/** Gathers what a connection sends during one turn, so that it goes out as one write. Large parts are not copied. */
export class Output {
  readonly #slab: Slab;
  readonly #host: OutputHost;
  /** What is before the run, where it is more than that. */
  #chunks = noChunks;
  /** The slab that the last frames were put in, and where they are; none: `#from` is `#to`. */
  #run: Buffer;
  #from = 0;
  #to = 0;
  #bytes = 0;
  #turns = 0;
  /** A microtask will flush. */
  #isAwaited = false;
  /** False once the socket said that it is full. */
  hasRoom = true;
  /** Bytes that were written since then all the same: answers, which no window holds back. */
  #unread = 0;

  constructor(host: OutputHost) {
    this.#slab = host.slab;
    this.#host = host;
    this.#run = host.slab.bytes;
  }

  /** What is put from here to the matching `end` goes out as one, as far as it is not much. */
  begin(): void {
    this.#turns += 1;
  }

  end(): void {
    this.#turns -= 1;
    if (this.#turns === 0) this.flush();
  }

  /** As `end`, but what was put goes out only once the callback of the event loop is over that this is in, unless it is much or others end a turn. */
  endLater(): void {
    this.#turns -= 1;
    if (this.#turns > 0 || this.#isAwaited || this.#bytes === 0) return;
    this.#isAwaited = true;
    queueMicrotask(() => {
      this.#isAwaited = false;
      this.flush();
    });
  }

  /** Puts the head of a frame, whose payload must follow. */
  head(length: number, type: number, flags: number, stream: number): void {
    const at = this.#room(frameHeadBytes);
    putFrameHead(this.#run, at, length, type, flags, stream);
  }

  /** Puts a whole DATA frame of so many bytes in three parts; the first and the last are copied, the middle one may be shared and must not change. */
  data(stream: number, length: number, prefix: Uint8Array, body: Uint8Array, tail: Uint8Array): void {
    const isCopied = body.length < sharedBytes;
    const copied = isCopied ? length + frameHeadBytes : frameHeadBytes + prefix.length;
    let at = this.#room(copied);
    const run = this.#run;
    putFrameHead(run, at, length, frameType.data, 0, stream);
    at += frameHeadBytes;
    for (let index = 0; index < prefix.length; index++) run[at + index] = prefix[index] as number;
    at += prefix.length;
    if (!isCopied) {
      this.put(body);
      this.put(tail);
      return;
    }
    run.set(body, at);
    run.set(tail, at + body.length);
  }

  /** Puts bytes, which may be shared and must not change. */
  put(bytes: Uint8Array): void {
    const { length } = bytes;
    if (length < sharedBytes) {
      const at = this.#room(length);
      this.#run.set(bytes, at);
      return;
    }
    this.#closeRun();
    this.#push(bufferOf(bytes));
    this.#bytes += length;
  }

  get isLarge(): boolean {
    return this.#bytes >= mostGathered;
  }

  /** The socket has room again. */
  drained(): void {
    this.hasRoom = true;
    this.#unread = 0;
  }

  /** Throws a ConnectionError where too much was provoked and is not read (CVE-2019-9512, 9515, 9517). */
  checkUnread(): void {
    if (this.#unread > mostUnread) throw new ConnectionError(http2Error.enhanceYourCalm, "answers are not read");
  }

  flush(): void {
    if (this.#bytes === 0) return;
    const slab = this.#slab;
    if (!this.hasRoom) this.#unread += this.#bytes;
    this.#bytes = 0;
    let written: Written;
    if (this.#chunks === noChunks) {
      const run = this.#run;
      const from = this.#from;
      const to = this.#to;
      this.#from = to;
      written = this.#host.write([run.subarray(from, to)]);
      if (written === "gone" && run === slab.bytes && to === slab.used) slab.used = from;
    } else {
      this.#closeRun();
      const chunks = this.#chunks;
      this.#chunks = noChunks;
      written = this.#host.write(chunks);
    }
    if (written === "full") this.hasRoom = false;
  }

  #room(length: number): number {
    const slab = this.#slab;
    slab.reserve(length);
    if (this.#run !== slab.bytes || this.#to !== slab.used) {
      this.#closeRun();
      this.#run = slab.bytes;
      this.#from = slab.used;
    }
    const at = slab.used;
    slab.used += length;
    this.#to = slab.used;
    this.#bytes += length;
    return at;
  }

  #closeRun(): void {
    if (this.#from < this.#to) this.#push(this.#run.subarray(this.#from, this.#to));
    this.#from = this.#to;
  }

  #push(chunk: Buffer): void {
    if (this.#chunks === noChunks) this.#chunks = [];
    this.#chunks.push(chunk);
  }
}

function bufferOf(bytes: Uint8Array): Buffer {
  return bytes instanceof Buffer ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
