import type { ResourceType } from "@xdskit/api";
import { isForAnswer } from "../../model/basics/wait.js";
import { type Stage, wholeStage } from "../../planning/make-before-break.js";
import type { OrderedStream } from "./ordered-stream.js";

/**
 * Receives the number of milliseconds for which a type of a client waited, until the client answered or was too
 * late.
 */
export type StageWaited = (type: ResourceType, ms: number) => void;

/** How long the types of a client wait for its answers. */
export class StageWaits {
  readonly #waited: StageWaited | undefined;
  /** By type, the time since which something of it waits for an answer of the client; undefined if nothing does. */
  #since: Map<ResourceType, number> | undefined;

  constructor(waited: StageWaited | undefined) {
    this.#waited = waited;
  }

  /** What a stream waited for is of no interest once it has ended. */
  leave({ subscribers }: OrderedStream): void {
    if (this.#since !== undefined) for (const { type } of subscribers) this.#since.delete(type);
  }

  /** Notes the time since which types wait, and reports the waits that have ended. `now` in milliseconds. */
  note({ subscribers }: OrderedStream, stage: Stage, now: number): void {
    const waited = this.#waited;
    if (waited === undefined || (stage === wholeStage && this.#since === undefined)) return;
    for (const { type } of subscribers) {
      const since = this.#since?.get(type);
      const waitsNow = stage.waits.some((wait) => wait.type === type && isForAnswer(wait));
      if (waitsNow && since === undefined) {
        this.#since ??= new Map();
        this.#since.set(type, now);
      } else if (!waitsNow && since !== undefined) {
        this.#since?.delete(type);
        waited(type, now - since);
      }
    }
    if (this.#since?.size === 0) this.#since = undefined;
  }
}
