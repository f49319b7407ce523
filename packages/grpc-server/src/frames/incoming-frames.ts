import { notHttp2 } from "./foreign-protocol.js";
import { FrameReader, type FrameReceiver } from "./frame-reader.js";
import { protocolError } from "./frame-rules.js";
import { flag, frameType } from "./frames.js";
import type { HeaderAssembly } from "./header-assembly.js";

const preface = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "latin1");

/**
 * Holds a connection's bytes to their order: the preface, SETTINGS (RFC 9113, 3.4), then any frames, which do not
 * interrupt a header block (4.3).
 */
export class IncomingFrames {
  readonly #assembly: HeaderAssembly;
  readonly #frame: FrameReceiver;
  readonly #reader: FrameReader;
  #prefaceLeft = preface.length;
  #sawSettings = false;

  /** `assembly` knows the open header block. */
  constructor(assembly: HeaderAssembly, frame: FrameReceiver) {
    this.#assembly = assembly;
    this.#frame = frame;
    this.#reader = new FrameReader((type, flags, id, payload) => this.#check(type, flags, id, payload));
  }

  /** Whether the client has sent the preface and SETTINGS. */
  get isOpen(): boolean {
    return this.#sawSettings;
  }

  /** Whether it is also between frames: the next byte is the first of a frame, which may be of any type. */
  get isBetween(): boolean {
    return this.#sawSettings && this.#reader.waiting === 0 && this.#assembly.open === undefined;
  }

  /** Throws a ConnectionError, and the errors of frames. */
  receive(bytes: Buffer): void {
    const rest = this.#prefaceLeft === 0 ? bytes : this.#readPreface(bytes);
    if (rest.length > 0) this.#reader.receive(rest);
  }

  #readPreface(bytes: Buffer): Buffer {
    const from = preface.length - this.#prefaceLeft;
    const length = Math.min(this.#prefaceLeft, bytes.length);
    if (!preface.subarray(from, from + length).equals(bytes.subarray(0, length))) {
      throw notHttp2(Buffer.concat([preface.subarray(0, from), bytes.subarray(0, preface.length)]));
    }
    this.#prefaceLeft -= length;
    return bytes.subarray(length);
  }

  #check(type: number, flags: number, id: number, payload: Buffer): void {
    if (!this.#sawSettings) {
      if (type !== frameType.settings || (flags & flag.ack) !== 0)
        throw protocolError("the first frame is not SETTINGS");
      this.#sawSettings = true;
    }
    const { open } = this.#assembly;
    if (open !== undefined && (type !== frameType.continuation || id !== open)) {
      throw protocolError("a frame in the middle of a header block");
    }
    this.#frame(type, flags, id, payload);
  }
}
