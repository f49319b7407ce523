import type { Clock, ResourceType } from "@xdskit/api";
import type { Snapshot } from "@xdskit/protocol";

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
 * As long as it asks only for types in which both are equal, nobody knows which of the two it has, and it gets nothing.
 */
export class Resumption {
  /** Undefined once it is over: a stream must not hold it for as long as it lives. */
  #earlier: Snapshot | undefined;
  readonly #clock: Clock;
  readonly #stream: ResumingStream;
  readonly #over: () => void;
  readonly #since: number;
  #hasEarlier = false;
  /** How many types were asked for that no snapshot was given for, as of the last look. */
  #asked = 0;
  #cancel: (() => void) | undefined;

  /** `over` is called when time ends it. */
  constructor(earlier: Snapshot, clock: Clock, stream: ResumingStream, over: () => void) {
    this.#earlier = earlier;
    this.#clock = clock;
    this.#stream = stream;
    this.#over = over;
    this.#since = clock.now();
  }

  /**
   * The client's target instead of the newest; undefined while it is unknown. Called before each time that the stream
   * is given a snapshot.
   */
  target(newest: Snapshot): Snapshot | undefined {
    const earlier = this.#earlier;
    if (earlier === undefined) return newest;
    const claims = this.#stream.has(earlier);
    // Its first request says that it has nothing, or asks by a name whose version tells nothing.
    const isMute = claims.size === 0 && this.#cancel === undefined;
    const isLate = this.#clock.now() - this.#since >= mostMs;
    if (isMute || isLate || [...claims.values()].includes(false)) {
      this.end();
      return newest;
    }
    // What it claims is compared with the first snapshot that it is given, and is new here only once.
    if (claims.size > (this.#hasEarlier ? 0 : this.#asked)) this.#wait();
    for (const hasNewest of this.#stream.has(newest).values()) this.#hasEarlier ||= !hasNewest;
    this.#asked = claims.size;
    return this.#hasEarlier ? earlier : undefined;
  }

  end(): void {
    this.#earlier = undefined;
    this.#cancel?.();
  }

  #wait(): void {
    this.#cancel?.();
    this.#cancel = this.#clock.after(quietMs, () => {
      const isLate = this.#clock.now() - this.#since >= mostMs;
      if (this.#hasEarlier && !this.#stream.isSettled && !isLate) return this.#wait();
      this.end();
      this.#over();
    });
  }
}
