import { type Clock, createWaits } from "@xdskit/api";

/** Without chance: one server asks itself. */
const backoff = { firstMs: 1_000, factor: 2, maxMs: 32_000, jitter: 0 };

/**
 * When ConfigMaps that the server refused are offered to it again: once what they wait for may be there, and more and
 * more seldom while that is in vain. A look costs some checks of the whole configuration for each of them.
 */
export class NextLook {
  readonly #clock: Clock;
  readonly #due: () => void;
  readonly #waits = createWaits(backoff, () => 0);
  /** What they wait for may be there. */
  #isWanted = false;
  #notBefore = Number.NEGATIVE_INFINITY;
  /** Takes back the call of `due`. */
  #forget: (() => void) | undefined;

  /** `due`: it is time. */
  constructor(clock: Clock, due: () => void) {
    this.#clock = clock;
    this.#due = due;
  }

  /** Whether it is wanted, and time. */
  get isDue(): boolean {
    return this.#isWanted && this.#clock.now() >= this.#notBefore;
  }

  /** What they wait for may be there. */
  want(): void {
    this.#isWanted = true;
    this.#arm();
  }

  /** It is had now, if it is due. What is wanted from now on is another one. */
  take(): boolean {
    const { isDue } = this;
    if (isDue) this.close();
    else this.#arm();
    return isDue;
  }

  /** Something was taken, or nothing. */
  ended(isInVain: boolean): void {
    if (!isInVain) this.#waits.reset();
    this.#setNotBefore(this.#clock.now() + (isInVain ? this.#waits.next() : 0));
  }

  /** One more is refused: it does not wait as long as those that are looked at in vain, only the first wait. */
  startAnew(): void {
    this.#waits.reset();
    // Never later than before: many that come one after the other cost no more than a look in each first wait.
    this.#setNotBefore(Math.min(this.#notBefore, this.#clock.now() + backoff.firstMs));
  }

  /** Nothing is wanted any more. */
  close(): void {
    this.#isWanted = false;
    this.#forget?.();
    this.#forget = undefined;
  }

  #setNotBefore(time: number): void {
    this.#notBefore = time;
    this.#forget?.();
    this.#forget = undefined;
    this.#arm();
  }

  #arm(): void {
    if (!this.#isWanted || this.#forget !== undefined) return;
    const wait = Math.max(0, this.#notBefore - this.#clock.now());
    this.#forget = this.#clock.after(wait, () => {
      this.#forget = undefined;
      this.#due();
    });
  }
}
