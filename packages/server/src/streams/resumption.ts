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
 * The client says what it has. Where that is something that the server served earlier, that snapshot is its target
 * first: it has all of it, so nothing is sent. Once it has asked for everything that it had, the newest snapshot is a
 * change like any other: its stages are planned from what the client uses.
 *
 * As long as it asks only for types in which all are equal, nobody knows which of them it has, and it gets nothing.
 */
export class Resumption {
  /**
   * What the client may have of all that it has said so far, newest first. Undefined once it is over: a stream must not
   * hold them for as long as it lives.
   */
  #earlier: readonly Snapshot[] | undefined;
  readonly #clock: Clock;
  readonly #stream: ResumingStream;
  readonly #over: () => void;
  readonly #since: number;
  #hasEarlier = false;
  /** How many types were asked for that no snapshot was given for, as of the last look. */
  #asked = 0;
  #cancel: (() => void) | undefined;

  /** `earlier`: newest first. `over` is called when time ends it. */
  constructor(earlier: readonly Snapshot[], clock: Clock, stream: ResumingStream, over: () => void) {
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
    if (this.#earlier === undefined) return newest;
    const ofNewest = this.#stream.has(newest);
    const [earlier, ...older] = this.#earlier.filter((one) => ![...this.#stream.has(one).values()].includes(false));
    // Its first request says that it has nothing, or asks by a name whose version tells nothing.
    const isMute = ofNewest.size === 0 && this.#cancel === undefined;
    const isLate = this.#clock.now() - this.#since >= mostMs;
    if (isMute || isLate || earlier === undefined) {
      this.end();
      return newest;
    }
    this.#earlier = [earlier, ...older];
    // What it claims is compared with the first snapshot that it is given, and is new here only once.
    if (ofNewest.size > (this.#hasEarlier ? 0 : this.#asked)) this.#wait();
    for (const hasNewest of ofNewest.values()) this.#hasEarlier ||= !hasNewest;
    this.#asked = ofNewest.size;
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
