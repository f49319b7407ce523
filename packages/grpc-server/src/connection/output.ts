import { frameHeadBytes, frameType, putFrameHead } from "../frames/frames.js";
import { ConnectionError, http2Error } from "../frames/http2-errors.js";

/**
 * The state of written bytes. `gone`: the socket no longer needs them. `kept`: it keeps them, and has room for more.
 * `full`: it has none until it says so.
 */
export type Written = "gone" | "kept" | "full";

/** The slab holds small frames, so that they need no separate memory and go out as one. */
const slabBytes = 16 * 1024;
/** Smaller parts are copied: that costs less than a separate chunk. */
const sharedBytes = 2 * 1024;
/** Bytes of answers that a client may provoke without reading them, once its socket is full. */
const maxUnread = 64 * 1024;
/** The number of bytes that are gathered before they are written. */
const maxGathered = 256 * 1024;

const noChunks: Buffer[] = [];

/**
 * Memory for frames until the end of a turn, shared by all connections of a server. If the socket took everything at
 * once, as it usually does, the memory is used again.
 */
export class Slab {
  bytes: Buffer = Buffer.allocUnsafeSlow(slabBytes);
  used = 0;

  /** Makes room for `length` bytes in one piece, from `used` on. */
  reserve(length: number): void {
    if (this.used + length <= this.bytes.length) return;
    // A socket still holds the bytes of the old one, and releases them.
    this.bytes = Buffer.allocUnsafeSlow(Math.max(slabBytes, length));
    this.used = 0;
  }
}

/** The target of the output. */
export interface OutputHost {
  /** Holds small frames until they are written; connections may share one. */
  readonly slab: Slab;
  /**
   * Writes bytes as one. Those that are not gone afterwards belong to the socket; after `full` the host calls
   * `drained`.
   */
  write(chunks: readonly Buffer[]): Written;
}

/** Gathers the output of a connection during one turn, so that it goes out as one write. Large parts are not copied. */
export class Output {
  readonly #slab: Slab;
  readonly #host: OutputHost;
  /** The chunks before the run, if there are any. */
  #chunks = noChunks;
  /** The slab with the last frames, and their place in it. If `#from` is `#to` there are none. */
  #run: Buffer;
  #from = 0;
  #to = 0;
  #bytes = 0;
  #turns = 0;
  /** A microtask will flush. */
  #isAwaited = false;
  /** False after the socket said that it is full. */
  hasRoom = true;
  /** Bytes written since then all the same: answers, which no window holds back. */
  #unread = 0;

  constructor(host: OutputHost) {
    this.#slab = host.slab;
    this.#host = host;
    this.#run = host.slab.bytes;
  }

  /** Everything that is put between this and the matching `end` goes out as one write, unless it is large. */
  begin(): void {
    this.#turns += 1;
  }

  end(): void {
    this.#turns -= 1;
    if (this.#turns === 0) this.flush();
  }

  /**
   * As `end`, but writes only when the current callback of the event loop is over, unless there is much to write or
   * another turn ends before.
   */
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

  /**
   * Puts a DATA frame whose payload has three parts. The first and the last are copied; the middle one may be shared
   * and must not change.
   */
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
    return this.#bytes >= maxGathered;
  }

  /** The socket has room again. */
  drained(): void {
    this.hasRoom = true;
    this.#unread = 0;
  }

  /**
   * Throws a ConnectionError if a client provokes too many answers and does not read them (CVE-2019-9512, 9515,
   * 9517).
   */
  checkUnread(): void {
    if (this.#unread > maxUnread) throw new ConnectionError(http2Error.enhanceYourCalm, "answers are not read");
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
