import type { Clock } from "@xdskit/api";

/** One timer for a time that changes often. */
export class Alarm {
  readonly #clock: Clock;
  readonly #ring: () => void;
  #at: number | undefined;
  #stop: (() => void) | undefined;

  constructor(clock: Clock, ring: () => void) {
    this.#clock = clock;
    this.#ring = ring;
  }

  /**
   * Sets the alarm to this time of the clock instead of the one before; undefined: never. Setting the same time costs
   * nothing.
   */
  set(at: number | undefined): void {
    if (at === this.#at) return;
    this.#stop?.();
    this.#at = at;
    this.#stop = undefined;
    if (at === undefined) return;
    this.#stop = this.#clock.after(Math.max(0, at - this.#clock.now()), () => {
      this.#at = undefined;
      this.#ring();
    });
  }
}
