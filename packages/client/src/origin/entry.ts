import type { ResourceName, XdskitError } from "@xdskit/api";
import type { Delivery } from "../watchers/delivery.js";

/** What one name, or one collection, is watched by: all its watchers share it, and what they were told. */
export interface Entry<Value> {
  readonly name: ResourceName;
  readonly deliveries: ReadonlySet<Delivery<Value>>;
  /** It is known what it is, or that there is none. A server that is away is no answer. */
  readonly isAnswered: boolean;
  /** Tells the watchers of a change; `current` gives it already. */
  changed(value: Value): void;
  /** There is none any more; `current` gives none already. An answer, but where its time is over (`lapsed`): another server may have it. */
  gone(error: XdskitError, lapsed: boolean): void;
  /** Something is wrong: beside what is there, or in its place. Said once, however often it happens. */
  trouble(error: XdskitError, isAnswer: boolean): void;
  /** The server is there again: late watchers hear no more that it was away, and all hear of the next time. */
  recovered(): void;
  /** Gives a late watcher what the others have. */
  join(delivery: Delivery<Value>): void;
  leave(delivery: Delivery<Value>): void;
}

/** `current` is what a late watcher gets; undefined where there is nothing. */
export function createEntry<Value>(name: ResourceName, current: () => Value | undefined): Entry<Value> {
  const deliveries = new Set<Delivery<Value>>();
  let error: XdskitError | undefined;
  let ambient: XdskitError | undefined;
  let answered = current() !== undefined;
  let lapsed = false;
  /** What is wrong is over once the server answers. */
  let passes = false;
  const forget = () => {
    answered = true;
    lapsed = false;
    passes = false;
    error = undefined;
    ambient = undefined;
  };
  return {
    name,
    deliveries,
    get isAnswered() {
      return answered && !lapsed;
    },
    changed(value) {
      forget();
      for (const delivery of deliveries) delivery.changed(value);
    },
    gone(why, isOver) {
      forget();
      lapsed = isOver;
      error = why;
      for (const delivery of deliveries) delivery.error(why);
    },
    trouble(why, isAnswer) {
      // That there is none was said before, and remains true.
      if (answered && !isAnswer && current() === undefined) return;
      answered ||= isAnswer;
      const told = current() === undefined ? error : ambient;
      if (told?.message === why.message) return;
      passes = !isAnswer;
      if (current() === undefined) {
        error = why;
        for (const delivery of deliveries) delivery.error(why);
      } else {
        ambient = why;
        for (const delivery of deliveries) delivery.ambient(why);
      }
    },
    recovered() {
      if (!passes) return;
      passes = false;
      const isOver = ambient !== undefined;
      ambient = undefined;
      error = undefined;
      if (isOver) for (const delivery of deliveries) delivery.recovered();
    },
    join(delivery) {
      deliveries.add(delivery);
      const value = current();
      if (value !== undefined) delivery.changed(value);
      else if (error !== undefined) delivery.error(error);
      if (value !== undefined && ambient !== undefined) delivery.ambient(ambient);
    },
    leave(delivery) {
      deliveries.delete(delivery);
    },
  };
}
