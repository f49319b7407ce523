import {
  type Few,
  fewHas,
  fewMembers,
  fewSize,
  fewWith,
  fewWithout,
  type ResourceName,
  type XdskitError,
} from "@xdskit/api";
import type { Delivery } from "../watchers/delivery.js";

/** Makes the error that watchers of a name are told: thousands of names share one, and cost less than with an error each. */
export type Reason = (name: ResourceName) => XdskitError;

/** What one name, or one collection, is watched by: all its watchers share it, and what they were told. */
export interface Entry<Value> {
  readonly name: ResourceName;
  readonly deliveries: Iterable<Delivery<Value>>;
  readonly isWatched: boolean;
  /** It is known what it is, or that there is none. A server that is away is no answer. */
  readonly isAnswered: boolean;
  /** Tells the watchers of a change; `current` gives it already. */
  changed(value: Value): void;
  /** There is none any more; `current` gives none already. An answer, but where its time is over (`lapsed`): another server may have it. */
  gone(error: Reason, lapsed: boolean): void;
  /** Something is wrong: beside what is there, or in its place. Said once, however often it happens. */
  trouble(error: XdskitError, isAnswer: boolean): void;
  /** The server is there again: late watchers hear no more that it was away, and all hear of the next time. */
  recovered(): void;
  /** Gives a late watcher what the others have. */
  join(delivery: Delivery<Value>): void;
  /** False where it had left before. */
  leave(delivery: Delivery<Value>): boolean;
}

/** `current` is what a late watcher gets of a name; undefined where there is nothing. There is an entry for each name: a class, whose functions all share. */
export class WatchedEntry<Value> implements Entry<Value> {
  readonly name: ResourceName;
  readonly #current: (name: ResourceName) => Value | undefined;
  #deliveries: Few<Delivery<Value>>;
  #error: Reason | undefined;
  #ambient: XdskitError | undefined;
  #answered: boolean;
  #lapsed = false;
  /** What is wrong is over once the server answers. */
  #passes = false;

  constructor(name: ResourceName, current: (name: ResourceName) => Value | undefined) {
    this.name = name;
    this.#current = current;
    this.#answered = this.#value !== undefined;
  }

  get #value(): Value | undefined {
    return this.#current(this.name);
  }

  get deliveries(): Iterable<Delivery<Value>> {
    return fewMembers(this.#deliveries);
  }

  get isWatched(): boolean {
    return fewSize(this.#deliveries) > 0;
  }

  get isAnswered(): boolean {
    return this.#answered && !this.#lapsed;
  }

  #forget(): void {
    this.#answered = true;
    this.#lapsed = false;
    this.#passes = false;
    this.#error = undefined;
    this.#ambient = undefined;
  }

  changed(value: Value): void {
    this.#forget();
    for (const delivery of this.deliveries) delivery.changed(value);
  }

  gone(why: Reason, isOver: boolean): void {
    this.#forget();
    this.#lapsed = isOver;
    this.#error = why;
    const error = why(this.name);
    for (const delivery of this.deliveries) delivery.error(error);
  }

  trouble(why: XdskitError, isAnswer: boolean): void {
    const isThere = this.#value !== undefined;
    // That there is none was said before, and remains true.
    if (this.#answered && !isAnswer && !isThere) return;
    this.#answered ||= isAnswer;
    const told = isThere ? this.#ambient : this.#error?.(this.name);
    if (told?.message === why.message) return;
    this.#passes = !isAnswer;
    if (isThere) {
      this.#ambient = why;
      for (const delivery of this.deliveries) delivery.ambient(why);
    } else {
      this.#error = () => why;
      for (const delivery of this.deliveries) delivery.error(why);
    }
  }

  recovered(): void {
    if (!this.#passes) return;
    this.#passes = false;
    const isOver = this.#ambient !== undefined;
    this.#ambient = undefined;
    this.#error = undefined;
    if (isOver) for (const delivery of this.deliveries) delivery.recovered();
  }

  join(delivery: Delivery<Value>): void {
    this.#deliveries = fewWith(this.#deliveries, delivery);
    const value = this.#value;
    if (value !== undefined) delivery.changed(value);
    else if (this.#error !== undefined) delivery.error(this.#error(this.name));
    if (value !== undefined && this.#ambient !== undefined) delivery.ambient(this.#ambient);
  }

  leave(delivery: Delivery<Value>): boolean {
    if (!fewHas(this.#deliveries, delivery)) return false;
    this.#deliveries = fewWithout(this.#deliveries, delivery);
    return true;
  }
}
