import { performance } from "node:perf_hooks";

/** Items that wait for their turn, each at most once: a server's streams, all of which one change may concern. */
export interface FairQueue<Item> {
  /**
   * Queues an item. Items of `answers` and of `changes` take turns, so that neither a client that asks waits until
   * thousands were told of a change, nor a change for clients that ask all the time. An item that waits already keeps
   * its place, unless it moves from `changes` to `answers`.
   */
  add(item: Item, lane: "answers" | "changes"): void;
  delete(item: Item): void;
  readonly size: number;
}

/** The time by which a slice is measured, and the turns of the event loop; tests put another in its place. */
export interface SliceClock {
  /** Milliseconds, never going back. */
  now(): number;
  /** Calls back once the event loop had a turn. */
  later(callback: () => void): void;
}

/** Time in milliseconds, and the next turn of the event loop. */
export const systemSliceClock: SliceClock = {
  now: () => performance.now(),
  later: (callback) => void setImmediate(callback),
};

/** The settings of a queue. `createFairQueue` has the defaults. */
export interface FairQueueOptions<Item> {
  /** Milliseconds of a slice. Default 5. */
  readonly sliceMs?: number;
  readonly clock?: SliceClock;
  /**
   * Answers of one crowd, such as the streams of one connection, take turns with those of other crowds. Default: all
   * are one crowd.
   */
  readonly crowdOf?: (item: Item) => string;
}

/**
 * Works through items in order of arrival, in slices: after `sliceMs` milliseconds the event loop gets its turn, so
 * that a change for five thousand streams does not hold up another stream's request or a health check. It never starts
 * within `add`: the items of one turn of the event loop, such as a burst of requests, are handled together. Crowds take
 * turns with their answers, so that nobody waits for all requests of one client.
 */
export function createFairQueue<Item extends object | string | number>(
  work: (item: Item) => void,
  { sliceMs = 5, clock = systemSliceClock, crowdOf }: FairQueueOptions<Item> = {},
): FairQueue<Item> {
  const answers = crowdOf === undefined ? new Lane<Item>() : new CrowdedLane(crowdOf);
  const changes = new Lane<Item>();
  let scheduled = false;

  function schedule(): void {
    if (scheduled || answers.size + changes.size === 0) return;
    scheduled = true;
    clock.later(slice);
  }
  function slice(): void {
    scheduled = false;
    const end = clock.now() + sliceMs;
    while (workOnFirst(answers) || changes.size > 0) {
      workOnFirst(changes);
      if (clock.now() >= end) break;
    }
    schedule();
  }
  function workOnFirst(lane: Pick<Lane<Item>, "take">): boolean {
    const item = lane.take();
    if (item === undefined) return false;
    work(item);
    return true;
  }
  return {
    add(item, lane) {
      if (lane === "answers") {
        changes.delete(item);
        answers.add(item);
      } else if (answers.size === 0 || !answers.has(item)) {
        changes.add(item);
      }
      // One publish adds thousands.
      if (!scheduled) schedule();
    },
    delete(item) {
      answers.delete(item);
      changes.delete(item);
    },
    get size() {
      return answers.size + changes.size;
    },
  };
}

/** Items in order of arrival, each once. */
class Lane<Item extends object | string | number> extends Set<Item> {
  /**
   * One iterator for many calls of `take`. A new one would step over the places of all deleted entries each time,
   * since a `Set` keeps those for a while.
   */
  #rest: Iterator<Item> | undefined;

  /** Takes the first out; undefined if there is none. */
  take(): Item | undefined {
    if (this.size === 0) {
      // Kept, the iterator would hold on to the tables of earlier items.
      this.#rest = undefined;
      return undefined;
    }
    this.#rest ??= this.values();
    // All earlier items are deleted, and new ones come behind: since the set is not empty, there is a next.
    const item = this.#rest.next().value as Item;
    this.delete(item);
    if (this.size === 0) this.#rest = undefined;
    return item;
  }
}

/** Items of several crowds: the first of each crowd in turn. Mostly a crowd has one. */
class CrowdedLane<Item extends object | string | number> {
  readonly #crowdOf: (item: Item) => string;
  readonly #turns = new Lane<string>();
  /** By crowd, its first. */
  readonly #firsts = new Map<string, Item>();
  /** The others, if there are any. */
  readonly #others = new Map<string, Lane<Item>>();
  size = 0;

  constructor(crowdOf: (item: Item) => string) {
    this.#crowdOf = crowdOf;
  }

  has(item: Item): boolean {
    if (this.size === 0) return false;
    const name = this.#crowdOf(item);
    return this.#firsts.get(name) === item || this.#others.get(name)?.has(item) === true;
  }

  add(item: Item): void {
    if (this.has(item)) return;
    this.size += 1;
    const name = this.#crowdOf(item);
    if (!this.#firsts.has(name)) {
      this.#firsts.set(name, item);
      this.#turns.add(name);
      return;
    }
    const others = this.#others.get(name) ?? new Lane();
    this.#others.set(name, others);
    others.add(item);
  }

  delete(item: Item): void {
    if (!this.has(item)) return;
    const name = this.#crowdOf(item);
    if (this.#firsts.get(name) !== item) {
      this.size -= 1;
      const others = this.#others.get(name);
      others?.delete(item);
      if (others?.size === 0) this.#others.delete(name);
    } else if (!this.#goOn(name)) this.#turns.delete(name);
  }

  take(): Item | undefined {
    const name = this.#turns.take();
    if (name === undefined) return undefined;
    const item = this.#firsts.get(name);
    if (this.#goOn(name)) this.#turns.add(name);
    return item;
  }

  /** The first of a crowd leaves; returns whether another one takes its place. */
  #goOn(name: string): boolean {
    this.size -= 1;
    const others = this.#others.get(name);
    const next = others?.take();
    if (others?.size === 0) this.#others.delete(name);
    if (next === undefined) this.#firsts.delete(name);
    else this.#firsts.set(name, next);
    return next !== undefined;
  }
}
