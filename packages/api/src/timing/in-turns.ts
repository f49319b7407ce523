import { setImmediate as nextTurn } from "node:timers/promises";
import { sliceMs } from "./slice.js";

/** Work that may stop at each `yield`, so that others get a turn. */
export type Steps<T> = Generator<void, T>;

/** Does the work in this turn of the event loop. */
export function atOnce<T>(steps: Steps<T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

/** Does the work in several turns of the event loop. The data that it reads may change in between. */
export async function inTurns<T>(steps: Steps<T>): Promise<T> {
  for (let began = performance.now(); ; ) {
    const { done, value } = steps.next();
    if (done) return value;
    if (performance.now() - began < sliceMs) continue;
    await nextTurn();
    began = performance.now();
  }
}

/** The items of a list, with a stop after each: what one costs the first time may be a hundred times as much later. */
export function* oneByOne<T>(items: Iterable<T>, each: (item: T) => void): Steps<void> {
  for (const item of items) {
    each(item);
    yield;
  }
}
