import { Alarm, type Clock } from "@xdskit/api";

/** Calls a function for each of many names when its time is over. One timer serves all. */
export class Deadlines {
  readonly #clock: Clock;
  readonly #over: (name: string) => void;
  /** In the order in which they were set; times differ by name. */
  readonly #at = new Map<string, number>();
  #next = Number.POSITIVE_INFINITY;
  readonly #alarm: Alarm;

  constructor(clock: Clock, over: (name: string) => void) {
    this.#clock = clock;
    this.#over = over;
    this.#alarm = new Alarm(clock, () => this.#look());
  }

  /** Sets the time of a name anew. */
  set(name: string, milliseconds: number): void {
    const at = this.#clock.now() + milliseconds;
    this.#at.set(name, at);
    if (at < this.#next) this.#wait(at);
  }

  forget(name: string): void {
    this.#at.delete(name);
  }

  /** Milliseconds that a name has left; undefined: it has no time. */
  left(name: string): number | undefined {
    const at = this.#at.get(name);
    return at === undefined ? undefined : Math.max(0, at - this.#clock.now());
  }

  close(): void {
    this.#alarm.set(undefined);
    this.#at.clear();
  }

  #wait(until: number): void {
    this.#next = until;
    this.#alarm.set(until);
  }

  #look(): void {
    this.#next = Number.POSITIVE_INFINITY;
    const now = this.#clock.now();
    let next = Number.POSITIVE_INFINITY;
    for (const [name, at] of [...this.#at]) {
      // A timer may be some microseconds early.
      if (at > now + 1) next = Math.min(next, at);
      else {
        this.#at.delete(name);
        this.#over(name);
      }
    }
    if (next < this.#next) this.#wait(next);
  }
}
