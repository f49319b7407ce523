import { inTurns } from "@xdskit/api";
import type { ClientStream } from "@xdskit/protocol";
import type { UpstreamSink } from "./upstream.js";

/** From this many bytes on, to read a response may take longer than others may wait. */
const longResponse = 100 * 1024;

/** Prepares a response for the machine if it is long (`ClientStream.prepare`), which leaves turns to others. */
export function prepareLong(
  bytes: Uint8Array,
  machine: ClientStream,
  { acknowledge }: Pick<UpstreamSink, "acknowledge">,
): Promise<void> | undefined {
  // Who answers later than at once is a relay, which serves the resources.
  return bytes.length < longResponse ? undefined : inTurns(machine.prepare(bytes, acknowledge !== undefined));
}

/** Takes responses, and the end of their stream, one after the other; the long ones once they are prepared. */
export class ResponseTurns {
  readonly #prepare: (bytes: Uint8Array) => Promise<void> | undefined;
  #last: Promise<void> | undefined;

  constructor(prepare: (bytes: Uint8Array) => Promise<void> | undefined) {
    this.#prepare = prepare;
  }

  /** Something is still to be taken. */
  get isBusy(): boolean {
    return this.#last !== undefined;
  }

  /** Calls `take`, at once if there is nothing to wait for. `bytes`: those of a response. */
  take(take: () => unknown, bytes?: Uint8Array): void {
    const prepare = () => bytes && this.#prepare(bytes);
    const prepared = this.#last === undefined ? prepare() : this.#last.then(prepare);
    if (prepared === undefined) {
      take();
      return;
    }
    const taken = prepared.then(() => {
      if (this.#last === taken) this.#last = undefined;
      take();
    });
    this.#last = taken;
  }
}
