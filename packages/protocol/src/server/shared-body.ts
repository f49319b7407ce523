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
  #bytes: Uint8Array | WeakRef<Uint8Array>;

  constructor(writer: BodyWriter, head: ResponseHead, content: Content) {
    this.#writer = writer;
    this.#head = head;
    this.#content = content;
    const bytes = writer.write(head, content);
    this.length = bytes.length;
    this.#bytes = bytes.length < smallBytes ? bytes : new WeakRef(bytes);
  }

  get bytes(): Uint8Array {
    const known = this.atHand;
    if (known !== undefined) return known;
    const made = this.#writer.write(this.#head, this.#content);
    this.#bytes = new WeakRef(made);
    return made;
  }

  get atHand(): Uint8Array | undefined {
    const bytes = this.#bytes;
    return bytes instanceof WeakRef ? bytes.deref() : bytes;
  }

  rest(from: number): Iterator<Uint8Array> {
    return this.#writer.rest(this.#head, this.#content, from);
  }
}
