import type { ResourceType } from "@xdskit/api";
import type { Snapshot } from "@xdskit/protocol";
import type { Clock } from "../basics/clock.js";

/** A client asks for all that it had within so many milliseconds after another; then it has nothing more to say. */
const quietMs = 100;
/** After so many milliseconds a client gets the newest, whether it uses the earlier snapshot or not. */
const mostMs = 5_000;

/** What a resumption needs of a stream. */
export interface ResumingStream {
  /** See `Stream.has`. */
  has(snapshot: Snapshot): ReadonlyMap<ResourceType, boolean>;
  readonly isSettled: boolean;
}

/**
 * Brings a client that was served before a restart from there to the newest snapshot in the order of make before break.
 * The client says what it has. Where that is what the server served last before the restart, that snapshot is its
 * target first: it has all of it, so nothing is sent. Once it has asked for everything that it had, the newest snapshot
 * is a change like any other: its stages are planned from what the client uses.
 *
 * It is unknown which of the two the client has as long as it asks only for types in which both are equal.
 */
export class Resumption {
  readonly #earlier: Snapshot;
  readonly #clock: Clock;
  readonly #stream: ResumingStream;
  readonly #over: () => void;
  readonly #since: number;
  #state: "unknown" | "has earlier" | "over" = "unknown";
  #cancel: (() => void) | undefined;

  /** `over` is called when time ends it. */
  constructor(earlier: Snapshot, clock: Clock, stream: ResumingStream, over: () => void) {
    this.#earlier = earlier;
    this.#clock = clock;
    this.#stream = stream;
    this.#over = over;
    this.#since = clock.now();
  }

  /** The client's target instead of the newest. Called before each time that the stream is given a snapshot. */
  target(newest: Snapshot): Snapshot {
    if (this.#state === "over") return newest;
    const claims = this.#stream.has(this.#earlier);
    const isAsked = this.#cancel !== undefined;
    if (claims.size === 0) {
      // Its first request says that it has nothing.
      if (!isAsked) this.end();
      return isAsked ? this.#earlier : newest;
    }
    const hasNewest = this.#stream.has(newest);
    for (const [type, hasEarlier] of claims) {
      if (!hasEarlier) {
        this.end();
        return newest;
      }
      if (hasNewest.get(type) === false) this.#state = "has earlier";
    }
    this.#wait();
    return this.#earlier;
  }

  end(): void {
    this.#state = "over";
    this.#cancel?.();
  }

  #wait(): void {
    this.#cancel?.();
    this.#cancel = this.#clock.after(quietMs, () => {
      const isLate = this.#clock.now() - this.#since >= mostMs;
      if (this.#state === "has earlier" && !this.#stream.isSettled && !isLate) return this.#wait();
      this.end();
      this.#over();
    });
  }
}
