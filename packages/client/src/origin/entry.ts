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
  /** There is none any more; `current` gives none already. An answer. */
  gone(error: XdskitError): void;
  /** Something is wrong: beside what is there, or in its place. Said once, however often it happens. */
  trouble(error: XdskitError, isAnswer: boolean): void;
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
  const forget = () => {
    answered = true;
    error = undefined;
    ambient = undefined;
  };
  return {
    name,
    deliveries,
    get isAnswered() {
      return answered;
    },
    changed(value) {
      forget();
      for (const delivery of deliveries) delivery.changed(value);
    },
    gone(why) {
      forget();
      error = why;
      for (const delivery of deliveries) delivery.error(why);
    },
    trouble(why, isAnswer) {
      answered ||= isAnswer;
      if (current() === undefined) {
        if (error?.message === why.message) return;
        error = why;
        for (const delivery of deliveries) delivery.error(why);
      } else {
        if (ambient?.message === why.message) return;
        ambient = why;
        for (const delivery of deliveries) delivery.ambient(why);
      }
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
