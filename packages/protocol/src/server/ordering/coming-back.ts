import { perObject, type Reference, type Resource, type ResourceType } from "@xdskit/api";
import { ResourceSets } from "../../model/sets/resource-set.js";
import type { Snapshot } from "../../model/snapshots/snapshot.js";
import { covers } from "../../model/subscribed/subscription.js";
import type { Replaced, Subscriber } from "../state/subscriber.js";
import { comingBackTime, type OrderingTimes } from "./ordering-times.js";
import { isUsed, namedBy, type PastSnapshots, replacedSince } from "./past-listeners.js";

/**
 * What an order must consider while a client comes back. Its old listeners drain again, each once. Streams of one type
 * each come back one after the other: what the client may use of those that are away drains as well, and what names
 * clusters waits for their stream.
 */
export class ComingBack {
  readonly #past: (() => PastSnapshots) | undefined;
  readonly #mayAskForMore: boolean;
  /** When a stream of the client came back last, or broke, in milliseconds: others may still come back. */
  #since = Number.NEGATIVE_INFINITY;
  /** Until when a type that is away is waited for, in milliseconds; long ago where all types are on one stream. */
  #awayUntil = Number.NEGATIVE_INFINITY;
  /** The target for which the streams that are away were considered last. */
  #considered: Snapshot | undefined;
  /** How often that was. */
  #times = 0;
  /** The target at that time: what it has was in use again, even if it had drained before. */
  #target: Snapshot | undefined;
  /** The old listeners that drain, or have drained, and the value of `#times` when they began. Mostly none. */
  #known: WeakMap<Resource, number> | undefined;

  /**
   * `past`: for streams of one type each, the snapshots whose resources the client may still use. `mayAskForMore`: it
   * may have had streams that this server never saw.
   */
  constructor(past: (() => PastSnapshots) | undefined, mayAskForMore: boolean) {
    this.#past = past;
    this.#mayAskForMore = mayAskForMore;
  }

  /** A stream came back on the way to `target`, or streams broke, with these types; `now` in milliseconds. */
  begin(
    now: number,
    target: Snapshot | undefined,
    broken: ReadonlySet<ResourceType>,
    { acknowledgement }: OrderingTimes,
  ): void {
    // Only its own break makes a type awaited anew. Else a client that has none, and whose other streams break again
    // and again, would wait for ever. What was never there before others broke is not awaited.
    const isFirst = this.#since === Number.NEGATIVE_INFINITY && broken.size === 0;
    const isBroken = [...broken].some((type) => type.acknowledgedWarm);
    // It had that stream, so it comes back. Of a stream that nobody saw, the types may be in the client's bootstrap.
    if (this.#past !== undefined && (isBroken || (isFirst && this.#mayAskForMore)))
      this.#awayUntil = now + (isBroken ? comingBackTime : acknowledgement);
    this.#since = now;
    this.#times += 1;
    this.#target = target;
    this.#considered = undefined;
  }

  /** Those that this order has not let drain before. */
  takeNew(replaced: readonly Replaced[]): readonly Replaced[] {
    // What a known one led to drains with that.
    const isKnown = ({ old, ledTo }: Replaced) => old.every((one) => this.#drains(one) || ledTo.includes(one));
    const taken = replaced.filter((one) => !isKnown(one));
    for (const { old } of taken) this.note(old);
    return taken;
  }

  /** These listeners drain, as the client has shown on a stream that is open. */
  note(old: readonly Resource[]): void {
    if (old.length === 0) return;
    this.#known ??= new WeakMap();
    for (const one of old) this.#known.set(one, this.#times);
  }

  #drains(one: Resource): boolean {
    const begun = this.#known?.get(one);
    if (begun === undefined || begun === this.#times) return begun !== undefined;
    return this.#target === undefined || ResourceSets.get(this.#target.of(one.type), one.key) !== one;
  }

  /**
   * What the client may go on to use on its way to `wanted`, and no stream that is back asks for, where that is new.
   * `all`: the subscribers of all streams of the order.
   */
  ofAbsent(all: readonly Subscriber[], wanted: Snapshot, now: number): readonly Replaced[] {
    if (this.#past === undefined || this.#considered === wanted || now >= this.#since + comingBackTime) return [];
    this.#considered = wanted;
    const has = (reference: Reference) => {
      const asking = all.filter(({ type }) => type.typeUrl === reference.type);
      return asking.length === 0 ? undefined : asking.some(({ sent }) => namedBy(reference, sent.set).length > 0);
    };
    const isAbsent = (resource: Resource) =>
      !all.some(({ type, subscription }) => type === resource.type && covers(subscription, resource));
    const absent = replacedSince(this.#past(), wanted, true).filter(
      (one) => one.old.some(isAbsent) && isUsed(one, has),
    );
    // Listeners whose stream is back drain as that shows, and the others only until theirs is back.
    return this.takeNew(absent).map((one) =>
      one.old.some((each) => each.type.drains && isAbsent(each)) ? one : withoutListeners(one),
    );
  }

  /** See `#awayUntil`. */
  get awayUntil(): number {
    return this.#awayUntil;
  }
}

const withoutListeners = perObject((all: Replaced): Replaced => {
  return { ...all, old: all.old.filter(({ type }) => !type.drains) };
});

/** The types that are acknowledged once they are warm, and whose stream is not back. */
export function awayOf(all: readonly Subscriber[], wanted: Snapshot): readonly ResourceType[] {
  // A stream that has just come back has not been compared with any snapshot yet.
  const isBack = (type: ResourceType) =>
    all.some((one) => one.type === type && (one.used.set !== undefined || one.exchange.lastSent !== undefined));
  const types = Array.from(wanted.sets.values(), ({ type }) => type);
  return types.filter((type) => type.acknowledgedWarm && !isBack(type));
}
