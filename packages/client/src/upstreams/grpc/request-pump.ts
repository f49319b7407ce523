import type { ClientStream } from "@xdskit/protocol";
import type { OpenState } from "./discovery-stream-state.js";

/** Sends the requests of a machine, each once the one before is written. */
export class RequestPump {
  readonly #machine: ClientStream;
  readonly #open: () => OpenState | undefined;
  #isDue = false;

  /** `open`: the stream that they go to; undefined: there is none now. */
  constructor(machine: ClientStream, open: () => OpenState | undefined) {
    this.#machine = machine;
    this.#open = open;
  }

  now(): void {
    for (;;) {
      const state = this.#open();
      if (state === undefined || state.isWriting) return;
      const request = this.#machine.next();
      if (request === undefined) return;
      state.isWriting = true;
      state.stream.send(request.bytes, () => {
        if (this.#open() !== state) return;
        state.isWriting = false;
        this.now();
      });
    }
  }

  /** After this turn: what else it asks for goes with it. */
  soon(): void {
    if (this.#isDue) return;
    this.#isDue = true;
    queueMicrotask(() => {
      this.#isDue = false;
      this.now();
    });
  }
}
