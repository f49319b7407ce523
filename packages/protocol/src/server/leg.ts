import type { Stage } from "../make-before-break.js";
import type { NameSet } from "../name-set.js";
import type { ResourceSet } from "../resource-set.js";
import { ResourceSets } from "../resource-set.js";
import type { Holding, Sent } from "./client-use.js";
import type { OutgoingResponse, StreamEffect } from "./contract.js";
import type { Departure } from "./order-standpoint.js";
import type { RestingPlace } from "./resting-place.js";
import type { SharedResponse } from "./shared-responses.js";
import type { Subscriber } from "./subscriber.js";

/*
 * What one stream did, as data, so that others can repeat it (`Mover`). The way of a stream from the snapshot at which it rests to the next is one leg, or several: within a leg no
 * response waits for an answer of the client, and each step of a leg is one response. For example, where a route moves to a new cluster: the first leg sends the cluster, the second,
 * once the client acknowledged it, the route, and the third, after the next answer, removes the old cluster.
 */

/** What becomes of one type of a stream: what these fields of its `Subscriber` are from then on. */
export interface Shift {
  /** Which of the stream's types, in delivery order. */
  readonly index: number;
  readonly held: ResourceSet;
  readonly acked: ResourceSet | undefined;
  readonly owed: NameSet;
}

/** What a stream notes and tells of a usual acknowledgement; streams whose clients acknowledge in the same millisecond share it. */
interface Acknowledgement {
  readonly last: NonNullable<Holding["ackedLast"]>;
  readonly effects: readonly StreamEffect[];
}

/**
 * A step of a `Leg` as streams send and remember it that sent as many responses before (and so use the same nonce), in the same millisecond: a few objects for a thousand streams. Each
 * stream's own would live until its next response, and objects of that age are what costs most to collect.
 */
export interface Sending {
  readonly sent: Sent;
  /** What a client has to answer then that has nothing else to answer. */
  readonly outstanding: readonly Sent[];
  readonly response: OutgoingResponse;
  /** As of the millisecond in which it was acknowledged last. */
  acknowledged: Acknowledgement | undefined;
}

/** One response of a leg, and what it makes of the stream that sends it. */
export interface LegStep {
  /** Which of the stream's types, in delivery order. */
  readonly index: number;
  readonly response: SharedResponse;
  /** What is different once it is sent: of its type, and of types that moved on in between without a response, since there was nothing to say. */
  readonly shifts: readonly Shift[];
  /** The stage of the stream when it was sent. */
  readonly stage: Stage;
  /** The step as it was sent lately, for streams that send it with the same nonce in the same millisecond (`sendingOf`). */
  readonly sendings: (Sending | undefined)[];
}

/**
 * What a stream sends on its way to a snapshot without waiting for an answer, recorded from the first stream that came to where the leg begins (`Recording`). Most ways are one leg; where
 * something waits for an acknowledgement, what comes after the answer is another.
 */
export interface Leg {
  readonly steps: readonly LegStep[];
  /** What else is different once all steps are sent. */
  readonly shifts: readonly Shift[];
  /** The stage of the stream then: what is held back until an answer comes. */
  readonly stage: Stage;
  /** The steps that are not answered then, of this leg and of those before. */
  readonly open: readonly LegStep[];
  /** Nothing is held back on it, so that an answer that comes before all steps are sent changes nothing about the rest. */
  readonly isFree: boolean;
  /** Where a stream rests once its client acknowledged everything; undefined where something still waits for an answer. */
  readonly to: RestingPlace | undefined;
  /** The legs that follow, by the steps that were acknowledged by then: the sum of their `answerTo`. */
  readonly next: Map<number, Leg>;
  /** The same one for all legs of a way. */
  readonly way: Way;
}

/** The way from a place to a snapshot, in all orders in which clients answer. */
export interface Way {
  /** How many legs of it are remembered. */
  legs: number;
  /** What setting out on it did to the order of the stream that went last. */
  readonly departure: Departure;
}

/** Legs of one way that are remembered: most ways have one or three, and only clients that answer in ever new orders make more. */
export const mostLegs = 64;

/** A stream that asks for more types has ways of one leg only: a sum of `answerTo` has no more bits. */
export const mostCounted = 30;

/** An answer to a step as a bit, that of its type: sums of these say what was answered. */
export function answerTo({ index }: LegStep): number {
  return 1 << index;
}

/** Applies to a stream's types what happened to those of the stream that was first. `sent`: the index of the type of which a response is sent now. */
export function shift(subscribers: readonly Subscriber[], shifts: readonly Shift[], sent: number | undefined): void {
  for (const { index, held, acked, owed } of shifts) {
    const subscriber = subscribers[index] as Subscriber;
    subscriber.held = held;
    subscriber.acked = acked;
    subscriber.owed = owed;
    // The set that was sent long ago must not keep those alive that came since.
    if (index !== sent && subscriber.lastSent !== undefined) ResourceSets.shorten(subscriber.lastSent.set);
  }
}
