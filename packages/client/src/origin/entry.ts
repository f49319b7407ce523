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
import type { WatcherDelivery } from "../watchers/delivery.js";

/** Makes the error for watchers of a name. Thousands of names share one maker, which costs less than an error each. */
export type Reason = (name: ResourceName) => XdskitError;

/**
 * One watched name or collection. Its watchers share it, and the last state that they were told. `current` returns the
 * value for a late watcher, or undefined. There is an entry for each name, so this is a class, whose functions all
 * entries share.
 */
export class Entry<Value> {
  readonly name: ResourceName;
  readonly #current: (name: ResourceName) => Value | undefined;
  #deliveries: Few<WatcherDelivery<Value>>;
  #error: Reason | undefined;
  #ambient: XdskitError | undefined;
  #answered: boolean;
  #lapsed = false;
  /** The problem is over once the server answers. */
  #passes = false;

  constructor(name: ResourceName, current: (name: ResourceName) => Value | undefined) {
    this.name = name;
    this.#current = current;
    this.#answered = this.#value !== undefined;
  }

  get #value(): Value | undefined {
    return this.#current(this.name);
  }

  get deliveries(): Iterable<WatcherDelivery<Value>> {
    return fewMembers(this.#deliveries);
  }

  get isWatched(): boolean {
    return fewSize(this.#deliveries) > 0;
  }

  /** The content is known, or known to be missing. An absent server is no answer. */
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

  /** Tells the watchers of a change; `current` already returns the new value. */
  valueChanged(value: Value): void {
    this.#forget();
    for (const delivery of this.deliveries) delivery.valueChanged(value);
  }

  /**
   * The resource is gone; `current` already returns undefined. This counts as an answer, unless its TTL ran out
   * (`lapsed`): another server may have it.
   */
  gone(why: Reason, isOver: boolean): void {
    this.#forget();
    this.#lapsed = isOver;
    this.#error = why;
    const error = why(this.name);
    for (const delivery of this.deliveries) delivery.error(error);
  }

  /** There is a problem, beside the current value or in its place. The same problem is told once. */
  trouble(why: XdskitError, isAnswer: boolean): void {
    const isThere = this.#value !== undefined;
    // The watchers know already that it does not exist, and that is still true.
    if (this.#answered && !isAnswer && !isThere) return;
    this.#answered ||= isAnswer;
    const reported = isThere ? this.#ambient : this.#error?.(this.name);
    if (reported?.message === why.message) return;
    this.#passes = !isAnswer;
    if (isThere) {
      this.#ambient = why;
      for (const delivery of this.deliveries) delivery.ambient(why);
    } else {
      this.#error = () => why;
      for (const delivery of this.deliveries) delivery.error(why);
    }
  }

  /** The server is back: late watchers no longer hear that it was away, and all watchers hear of the next time. */
  recovered(): void {
    if (!this.#passes) return;
    this.#passes = false;
    const isOver = this.#ambient !== undefined;
    this.#ambient = undefined;
    this.#error = undefined;
    if (isOver) for (const delivery of this.deliveries) delivery.recovered();
  }

  /** Gives a late watcher the state that the others have. */
  join(delivery: WatcherDelivery<Value>): void {
    this.#deliveries = fewWith(this.#deliveries, delivery);
    const value = this.#value;
    if (value !== undefined) delivery.valueChanged(value);
    else if (this.#error !== undefined) delivery.error(this.#error(this.name));
    if (value !== undefined && this.#ambient !== undefined) delivery.ambient(this.#ambient);
  }

  /** False if it had already left. */
  leave(delivery: WatcherDelivery<Value>): boolean {
    if (!fewHas(this.#deliveries, delivery)) return false;
    this.#deliveries = fewWithout(this.#deliveries, delivery);
    return true;
  }
}
