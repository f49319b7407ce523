import type { Clock, ResourceType } from "@xdskit/api";
import type { HeldSnapshot, Snapshot } from "@xdskit/protocol";

/** A client asks for all that it had within so many milliseconds after another; then it has nothing more to say. */
const quietMs = 100;
/**
 * A client may have something of which another server of the store has heard a moment before this one: so many
 * milliseconds it is waited for that.
 */
const newsMs = 1_000;
/** After so many milliseconds a client gets the newest, whether it uses what it was taken to have or not. */
const mostMs = 5_000;

/** What a resumption needs of a stream. */
export interface ResumingStream {
  /** See `Stream.has`. */
  has(snapshot: Snapshot): ReadonlyMap<ResourceType, boolean>;
  /** See `Stream.held`. */
  held(known: readonly [Snapshot, ...Snapshot[]]): HeldSnapshot;
  readonly isSettled: boolean;
}

/** What a resumption is made with. */
export interface ResumptionOptions {
  readonly clock: Clock;
  readonly stream: ResumingStream;
  /** What clients may have besides the newest, newest first. */
  readonly known: () => readonly Snapshot[];
  /** Called when time changes the target. */
  readonly changed: () => void;
  /**
   * Every client may have something earlier: it is waited for what it says of all types. Otherwise most come back with
   * the newest, and who has it of the first type is given it at once.
   */
  readonly isRestart: boolean;
}

/** Nothing is known yet; what the client has is its target; it gets the newest. */
type Phase =
  | { readonly kind: "asking"; readonly known: () => readonly Snapshot[] }
  | { readonly kind: "holding"; readonly held: Snapshot }
  | { readonly kind: "over" };

/**
 * Brings a client that was served before a restart, or by another server, from there to the newest snapshot in the
 * order of make before break.
 *
 * The client says what it has, one type after the other, and gets nothing meanwhile. Once it has asked for everything
 * that it had, what it has is put together from what the server, or another one, served earlier: one of those
 * snapshots, or some of one and some of the next, where it was cut off in the middle of a change. That is its target
 * first: it has all of it, so nothing is sent. Then the newest snapshot is a change like any other: its stages are
 * planned from what the client uses.
 */
export class Resumption {
  /** Snapshots are not kept longer than they are needed: a stream lives for long. */
  #phase: Phase;
  readonly #clock: Clock;
  readonly #stream: ResumingStream;
  readonly #changed: () => void;
  readonly #isRestart: boolean;
  readonly #since: number;
  #newest: Snapshot | undefined;
  /** How many types were asked for as of the last look. */
  #asked = 0;
  #cancel: (() => void) | undefined;

  constructor({ known, clock, stream, changed, isRestart }: ResumptionOptions) {
    this.#phase = { kind: "asking", known };
    this.#clock = clock;
    this.#stream = stream;
    this.#changed = changed;
    this.#isRestart = isRestart;
    this.#since = clock.now();
  }

  /**
   * The client's target instead of the newest; undefined while it is unknown. Called before each time that the stream
   * is given a snapshot.
   */
  target(newest: Snapshot): Snapshot | undefined {
    if (this.#phase.kind === "over") return newest;
    if (this.#phase.kind === "holding") return this.#phase.held;
    this.#newest = newest;
    const ofNewest = this.#stream.has(newest);
    const hasNewest = ofNewest.size > 0 && ![...ofNewest.values()].includes(false);
    // Its first request says that it has nothing, or asks by a name whose version tells nothing.
    const isMute = ofNewest.size === 0 && this.#cancel === undefined;
    if (isMute || (hasNewest && !this.#isRestart)) {
      this.end();
      return newest;
    }
    if (ofNewest.size > this.#asked) this.#wait();
    this.#asked = ofNewest.size;
    return undefined;
  }

  end(): void {
    this.#phase = { kind: "over" };
    this.#newest = undefined;
    this.#cancel?.();
  }

  #wait(): void {
    this.#cancel?.();
    this.#cancel = this.#clock.after(quietMs, () => this.#goOn());
  }

  /** For some time it has asked for no further type. */
  #goOn(): void {
    const before = this.#phase;
    this.#phase = this.#next(before);
    if (this.#phase.kind === "over") this.end();
    else this.#wait();
    if (this.#phase !== before) this.#changed();
  }

  #next(phase: Phase): Phase {
    const newest = this.#newest;
    const waited = this.#clock.now() - this.#since;
    if (phase.kind === "asking" && newest !== undefined) {
      const { snapshot, isKnown } = this.#stream.held([newest, ...phase.known()]);
      return isKnown || waited >= newsMs ? { kind: "holding", held: snapshot } : phase;
    }
    return this.#stream.isSettled || waited >= mostMs ? { kind: "over" } : phase;
  }
}
