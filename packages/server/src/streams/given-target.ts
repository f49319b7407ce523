import type { Clock } from "@xdskit/api";
import type { Stream, StreamEvent, UnknownTypes } from "@xdskit/protocol";
import type { Joined } from "./joining.js";

/** The target that the machine of a stream was given last, and whether the stream must be given another one. */
export class GivenTarget {
  /** The unknown types that the machine was told last. */
  #unknown: UnknownTypes;
  /** Whether the stream joined a group, or an order, that the machine does not know yet. */
  #isRejoined = false;
  /** The target was not the newest: a rollout or a quarantine holds that back. */
  #isHeldBack = false;
  #lagFrom: number;

  /** `time`: of the server's clock. */
  constructor(time: number) {
    this.#lagFrom = Math.floor(time);
  }

  /** The time from which its lag counts, see `ReportedStream`. */
  get lagFrom(): number {
    return this.#lagFrom;
  }

  /** The stream has joined another group or another order. */
  rejoined(): void {
    this.#isRejoined = true;
  }

  /** The event that gives the machine its target; undefined if it has that, or there is none. */
  next(joined: Joined, machine: Stream, clock: Clock): StreamEvent | undefined {
    const { membership, ttl, resourceErrors, order, resumption } = joined;
    const newest = membership.newest();
    const target = membership.snapshot();
    const snapshot = target && resumption !== undefined ? resumption.target(target) : target;
    const unknown = membership.stack.unknown();
    const isGiven = unknown === this.#unknown && !this.#isRejoined && snapshot && machine.isUpToDateWith(snapshot);
    if (snapshot === undefined || isGiven) return undefined;
    const isHeldBack = target !== newest;
    if (isHeldBack || this.#isHeldBack || this.#isRejoined) this.#lagFrom = wholeNow(clock);
    this.#isHeldBack = isHeldBack;
    this.#isRejoined = false;
    this.#unknown = unknown;
    const lineage = snapshot === target ? membership.lineage : undefined;
    return { kind: "snapshot", snapshot, ttl, resourceErrors, ordering: order?.ordering, lineage, unknown };
  }
}

/** In whole milliseconds: streams that do the same within one share the record of it (`Sending`). */
export function wholeNow(clock: Clock): number {
  return Math.floor(clock.now());
}
