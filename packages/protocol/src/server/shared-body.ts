import type { ResponseHead } from "../messages/responses.js";
import type { Content } from "./content.js";
import type { ResponseBody } from "./contract.js";

/** How bodies are written: all at once, or from an offset on, piece by piece. Both give the same bytes whenever they are called. */
export interface BodyWriter {
  write(head: ResponseHead, content: Content): Uint8Array;
  rest(head: ResponseHead, content: Content, from: number): Iterator<Uint8Array>;
}

/** Smaller ones are kept: what it takes to make them again takes as much. */
const smallBytes = 8 * 1024;

/**
 * A body that streams share. A large one does not hold its bytes: who is about to send it to many does (`bytes`). So a stream that waits in the middle of it
 * costs a place in it, and no response of its own.
 */
export class SharedBody implements ResponseBody {
  readonly length: number;
  readonly #writer: BodyWriter;
  readonly #head: ResponseHead;
  readonly #content: Content;
  /** Of a small one. */
  readonly #kept: Uint8Array | undefined;
  #lent: WeakRef<Uint8Array> | undefined;

  constructor(writer: BodyWriter, head: ResponseHead, content: Content) {
    this.#writer = writer;
    this.#head = head;
    this.#content = content;
    const bytes = writer.write(head, content);
    this.length = bytes.length;
    if (bytes.length < smallBytes) this.#kept = bytes;
    else this.#lent = new WeakRef(bytes);
  }

  get bytes(): Uint8Array {
    return this.#kept ?? this.#lent?.deref() ?? this.#lend();
  }

  get atHand(): Uint8Array | undefined {
    return this.#kept ?? this.#lent?.deref();
  }

  rest(from: number): Iterator<Uint8Array> {
    return this.#writer.rest(this.#head, this.#content, from);
  }

  #lend(): Uint8Array {
    const bytes = this.#writer.write(this.#head, this.#content);
    this.#lent = new WeakRef(bytes);
    return bytes;
  }
}
