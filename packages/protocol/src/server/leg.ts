import type { Stage } from "../make-before-break.js";
import type { NameSet } from "../name-set.js";
import type { ResourceSet } from "../resource-set.js";
import { ResourceSets } from "../resource-set.js";
import type { PassMemory } from "./ordering.js";
import type { RestingPlace } from "./resting-place.js";
import type { Sending } from "./sending.js";
import type { SharedResponse } from "./shared-responses.js";
import type { Subscriber } from "./subscriber.js";

/** What became of one type of a stream. */
export interface Shift {
  /** Which of the stream's types, in delivery order. */
  readonly index: number;
  readonly held: ResourceSet;
  readonly acked: ResourceSet | undefined;
  readonly owed: NameSet;
}

/** One response of a leg. */
export interface LegStep {
  /** Which of the stream's types, in delivery order. */
  readonly index: number;
  readonly response: SharedResponse;
  /** What is different once it is sent, of this type and of those of which there was nothing to say. */
  readonly shifts: readonly Shift[];
  /** How far the stream might be brought when it was sent. */
  readonly stage: Stage;
  /** As streams sent it lately. */
  readonly sendings: (Sending | undefined)[];
}

/**
 * What a stream sends without an answer in between on its way from a place to a snapshot, as the first stream did it that came to where it begins: the others need not find it
 * again. Most ways are one leg; where something waits for an acknowledgement, another begins with each answer.
 */
export interface Leg {
  readonly steps: readonly LegStep[];
  /** What else is different once all is sent. */
  readonly shifts: readonly Shift[];
  /** What waits for answers then. */
  readonly stage: Stage;
  /** What is not answered then, of this leg and of those before. */
  readonly open: readonly LegStep[];
  /** An answer in the midst of it makes no difference. */
  readonly isFree: boolean;
  /** Where a stream stands once its client acknowledged everything; undefined where something waits for an answer. */
  readonly to: RestingPlace | undefined;
  /** How it goes on there, by the types that were acknowledged, as `answerTo` counts them. */
  readonly next: Map<number, Leg>;
  /** Of all legs of one way. */
  readonly way: Way;
}

/** The way from a place to a snapshot, in all orders in which clients answer. */
export interface Way {
  /** Legs that are remembered. */
  legs: number;
  /** What it did to the past of the order of the stream that went last. */
  readonly memory: PassMemory;
}

/** Legs of one way that are remembered: most are one or three, and more than this only clients make that answer in ever new orders. */
export const mostLegs = 64;

/** Types of a stream whose answers are counted. */
export const mostCounted = 30;

/** An answer to what was sent of one type, as a summand. */
export function answerTo({ index }: LegStep): number {
  return 1 << index;
}

/** Makes of a stream's types what others made of theirs. `sent`: which of them a response is sent of now. */
export function shift(subscribers: readonly Subscriber[], shifts: readonly Shift[], sent: number | undefined): void {
  for (const { index, held, acked, owed } of shifts) {
    const subscriber = subscribers[index] as Subscriber;
    subscriber.held = held;
    subscriber.acked = acked;
    subscriber.owed = owed;
    // What was sent long ago must not keep all that there was since.
    if (index !== sent && subscriber.lastSent !== undefined) ResourceSets.shorten(subscriber.lastSent.set);
  }
}
