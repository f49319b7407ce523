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

/** What a resumption is made with. */
export interface ResumptionOptions {
  readonly clock: Clock;
  readonly stream: ResumingStream;
  /** Called when time ends it. */
  readonly over: () => void;
  /**
   * Every client may have something earlier: it is waited for what it says of all types. Otherwise most come back with
   * the newest, and who has it of the first type is given it at once.
   */
  readonly isRestart: boolean;
}

/**
 * Brings a client that was served before a restart, or by another server, from there to the newest snapshot in the
 * order of make before break.
 *
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
  readonly #isRestart: boolean;
  readonly #since: number;
  #hasEarlier = false;
  /** How many types were asked for that no snapshot was given for, as of the last look. */
  #asked = 0;
  #cancel: (() => void) | undefined;

  /** `earlier`: newest first. */
  constructor(earlier: readonly Snapshot[], { clock, stream, over, isRestart }: ResumptionOptions) {
    this.#earlier = earlier;
    this.#clock = clock;
    this.#stream = stream;
    this.#over = over;
    this.#isRestart = isRestart;
    this.#since = clock.now();
  }

  /**
   * The client's target instead of the newest; undefined while it is unknown. Called before each time that the stream
   * is given a snapshot.
   */
  target(newest: Snapshot): Snapshot | undefined {
    if (this.#earlier === undefined) return newest;
    const ofNewest = this.#stream.has(newest);
    if (!this.#isRestart && !this.#hasEarlier && ofNewest.size > 0 && ![...ofNewest.values()].includes(false)) {
      this.end();
      return newest;
    }
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
