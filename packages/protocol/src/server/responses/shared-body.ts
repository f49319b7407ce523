import type { ResponseHead } from "../../wire/responses/responses.js";
import type { ResponseBody } from "../contract/response.js";
import type { Content } from "./content.js";

/** Writes bodies at once, or from an offset on in pieces. Both always give the same bytes. */
export interface BodyWriter {
  write(head: ResponseHead, content: Content): Uint8Array;
  rest(head: ResponseHead, content: Content, from: number): Iterator<Uint8Array>;
}

/** Bodies below this size keep their bytes: the inputs to make them again need as much memory. */
const smallBytes = 8 * 1024;

/**
 * The body of a response, shared by all streams that send it. A large body does not keep its bytes alive. The cache of
 * bodies does, and so do streams that are about to send it. If the bytes are gone, they are encoded again. So a slow
 * client's stream in the middle of a body costs an offset, not a response.
 */
export class SharedResponseBody implements ResponseBody {
  readonly length: number;
  readonly #writer: BodyWriter;
  readonly #head: ResponseHead;
  readonly #content: Content;
  /** The bytes of a small body. */
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
