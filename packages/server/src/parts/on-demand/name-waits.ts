import { type Clock, getOrInsert } from "@xdskit/api";
import { maxInTurn } from "./intervals.js";

/** Waits until clients are told, until the name is dropped, or until it is checked again. */
export type WaitKind = "answer" | "linger" | "next-call";

/** A name that waits, and records its waits. */
export interface Waiter<Name> {
  /** Stops a running wait of this kind. */
  stop(kind: WaitKind): void;
  /** Begins a wait, or ends it. */
  waits(kind: WaitKind, names: WaitingNames<Name> | undefined): void;
}

/** Names with the same kind and length of wait: first in, first due, so that one timer serves them all. */
export class WaitingNames<Name> {
  readonly #milliseconds: number;
  readonly #clock: Clock;
  readonly #over: (wanted: Name) => void;
  readonly #due = new Map<Name, number>();
  #stop: (() => void) | undefined;

  constructor(milliseconds: number, clock: Clock, over: (wanted: Name) => void) {
    this.#milliseconds = milliseconds;
    this.#clock = clock;
    this.#over = over;
  }

  add(wanted: Name): void {
    // Whole milliseconds: V8 keeps other numbers in separate objects.
    this.#due.set(wanted, Math.floor(this.#clock.now()) + this.#milliseconds);
    if (this.#stop === undefined) this.#wakeIn(this.#milliseconds);
  }

  /** In the place of a timer that runs: names that began to wait anew in this pass may have set it for themselves. */
  #wakeIn(milliseconds: number): void {
    this.#stop?.();
    this.#stop = this.#clock.after(milliseconds, () => this.#pass());
  }

  delete(wanted: Name): void {
    if (!this.#due.delete(wanted) || this.#due.size > 0) return;
    this.#stop?.();
    this.#stop = undefined;
  }

  #pass(): void {
    this.#stop = undefined;
    const now = this.#clock.now();
    let left = maxInTurn;
    for (const [wanted, due] of this.#due) {
      if (due > now || left === 0) {
        this.#wakeIn(Math.max(0, due - now));
        return;
      }
      left -= 1;
      this.#due.delete(wanted);
      this.#over(wanted);
    }
  }
}

/** All waits of the names of one group. */
export class NameWaits<Name extends Waiter<Name>> {
  readonly #clock: Clock;
  readonly #over: (kind: WaitKind, wanted: Name) => void;
  /** By kind and length of the wait: few lengths are in use. */
  readonly #kinds = new Map<string, WaitingNames<Name>>();

  constructor(clock: Clock, over: (kind: WaitKind, wanted: Name) => void) {
    this.#clock = clock;
    this.#over = over;
  }

  /** Stops a running wait of this kind and starts one. `Infinity` never ends, and needs no timer. */
  start(kind: WaitKind, wanted: Name, milliseconds: number): void {
    wanted.stop(kind);
    if (milliseconds === Number.POSITIVE_INFINITY) return;
    const key = `${kind} ${milliseconds}`;
    const names = getOrInsert(this.#kinds, key, () => {
      return new WaitingNames<Name>(milliseconds, this.#clock, (over) => {
        over.waits(kind, undefined);
        this.#over(kind, over);
      });
    });
    wanted.waits(kind, names);
    names.add(wanted);
  }
}
