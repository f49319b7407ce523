/**
 * The number of bytes of request bodies that may be retained at once, over all connections: a client that sends half of
 * many large bodies must not fill the memory. A small body needs no room, so ordinary clients are always served.
 */
export class BodyRoom {
  readonly #most: number;
  #taken = 0;

  /** In bytes. */
  constructor(most: number) {
    this.#most = most;
  }

  /** The place of one body while it is read. */
  enter() {
    let length = 0;
    return {
      /** False, and nothing is taken, if there is no room for this many more bytes. */
      grow: (bytes: number): boolean => {
        const more = Math.max(0, length + bytes - smallBody) - Math.max(0, length - smallBody);
        if (more > 0 && this.#taken + more > this.#most) return false;
        this.#taken += more;
        length += bytes;
        return true;
      },
      /** Releases all of it; may be called again. */
      leave: (): void => {
        this.#taken -= Math.max(0, length - smallBody);
        length = 0;
      },
    };
  }
}

/** Twice the node of an Envoy. */
const smallBody = 128 * 1024;
