import type { Clock } from "./clock.js";

/** One timer for a time that changes often. It rings once at each time that it is set to. */
export class Alarm {
  readonly #clock: Clock;
  readonly #ring: (at: number) => void;
  #at: number | undefined;
  #stop: (() => void) | undefined;

  /** `ring` is given the time that was set. */
  constructor(clock: Clock, ring: (at: number) => void) {
    this.#clock = clock;
    this.#ring = ring;
  }

  /**
   * Sets the alarm to this time of the clock, in milliseconds, instead of the one before; undefined: never. Setting the
   * same time costs nothing.
   */
  set(at: number | undefined): void {
    if (at === this.#at) return;
    this.#stop?.();
    this.#at = at;
    this.#stop = undefined;
    if (at === undefined) return;
    this.#stop = this.#clock.after(Math.max(0, at - this.#clock.now()), () => {
      this.#at = undefined;
      this.#ring(at);
    });
  }
}
