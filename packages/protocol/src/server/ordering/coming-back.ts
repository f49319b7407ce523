import { perObject, type Reference, type Resource, type ResourceType } from "@xdskit/api";
import { ResourceSets } from "../../model/sets/resource-set.js";
import type { Snapshot } from "../../model/snapshots/snapshot.js";
import { covers } from "../../model/subscribed/subscription.js";
import type { Replaced, Subscriber } from "../state/subscriber.js";
import { comingBackTime } from "./ordering-times.js";
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
  /**
   * The old listeners that drain, or have drained, and other old resources that were considered; with each the value of
   * `#times` at that moment. Mostly none.
   */
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
  begin(now: number, target: Snapshot | undefined, broken: ReadonlySet<ResourceType>): void {
    // Only its own break makes a type awaited anew. Else a client that has none, and whose other streams break again
    // and again, would wait for ever. What was never there before others broke is not awaited.
    const isFirst = this.#since === Number.NEGATIVE_INFINITY && broken.size === 0;
    const isBroken = [...broken].some((type) => type.acknowledgedWarm);
    if (this.#past !== undefined && (isBroken || (isFirst && this.#mayAskForMore)))
      this.#awayUntil = now + comingBackTime;
    this.#since = now;
    this.#times += 1;
    this.#target = target;
    this.#considered = undefined;
  }

  /** Those that this order has not let drain before. */
  takeNew(replaced: readonly Replaced[]): readonly Replaced[] {
    const taken = replaced.filter(({ old }) => !old.every((one) => this.#drains(one)));
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
    // A stream of another type may break again: then nobody tells what the client uses of it once more.
    if (!one.type.drains) return false;
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
      // One whose claims were not compared yet may have all.
      const mayHave = (one: Subscriber) => !isCompared(one) || namedBy(reference, one.sent.set).length > 0;
      return asking.length === 0 ? undefined : asking.some(mayHave);
    };
    const isAbsent = (resource: Resource) =>
      !all.some(({ type, subscription }) => type === resource.type && covers(subscription, resource));
    // Listeners whose stream is back drain as that shows, and the others only until theirs is back.
    const isNew = (one: Resource) => one.type.drains && isAbsent(one) && !this.#drains(one);
    const draining = new Set(all.flatMap((one) => one.draining.flatMap(({ what }) => what.old)));
    const haveDrained = ({ old }: Replaced) => {
      const listeners = old.filter(({ type }) => type.drains);
      return listeners.length > 0 && listeners.every((one) => this.#drains(one) && !draining.has(one));
    };
    const replaced = replacedSince(this.#past(), wanted, true).filter((one) => !haveDrained(one));
    const absent: Replaced[] = [];
    for (const one of replaced.map((each) => (each.old.some(isNew) ? each : withoutListeners(each)))) {
      if (one.old.some(isAbsent)) absent.push(one);
      // Streams ask for these: once they ask no more, the client uses them no longer.
      else this.note(one.old);
    }
    return this.takeNew(absent.filter((one) => isUsed(one, has)));
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
  const types = Array.from(wanted.sets.values(), ({ type }) => type);
  return types.filter((type) => type.acknowledgedWarm && !all.some((one) => one.type === type && isCompared(one)));
}

/** Whether it is known what the stream of a client that comes back has. */
function isCompared({ used, exchange }: Subscriber): boolean {
  return used.set !== undefined || exchange.lastSent !== undefined;
}
