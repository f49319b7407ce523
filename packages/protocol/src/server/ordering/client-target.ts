import type { Snapshot } from "../../model/snapshots/snapshot.js";
import type { OrderAtStart } from "./order-at-start.js";
import type { OrderedStream } from "./ordered-stream.js";
import { numberOf, sharedList } from "./past-snapshots.js";
import { LineagePosition, type SnapshotLineage } from "./snapshot-lineage.js";

/**
 * The number of a client's earlier targets that are remembered: a client that never reaches one would have ever more.
 */
const maxEarlier = 4;

const noSnapshots: readonly Snapshot[] = [];

/** The target of the client of an order, and its earlier targets. */
export class ClientTarget {
  readonly #streams: ReadonlySet<OrderedStream>;
  #earlier: readonly Snapshot[] = noSnapshots;
  /** The target, unless `#position` has it. */
  #wanted: Snapshot | undefined;
  /** Set while the order follows a lineage of snapshots. Then the target is the snapshot of the position. */
  #position: LineagePosition | undefined;
  /** The result of `#typesAsked`, until streams ask for other types. */
  #types: string | undefined;

  /** `streams`: those of the order, now and later. */
  constructor(streams: ReadonlySet<OrderedStream>) {
    this.#streams = streams;
  }

  /** The target, as far as the order knows. */
  get last(): Snapshot | undefined {
    return this.#position === undefined ? this.#wanted : this.#position.snapshot;
  }

  /**
   * The earlier targets, oldest first. The client may still use routes of these, and only now ask for a cluster that
   * they name and that was removed since.
   */
  get earlier(): readonly Snapshot[] {
    return this.#earlier;
  }

  /** Streams came or went, or ask for other types. The order stops following the lineage. */
  typesChanged(): void {
    this.#types = undefined;
    if (this.#position === undefined) return;
    this.#wanted = this.#position.snapshot;
    this.#position = undefined;
  }

  /** Sets the target. The previous target is remembered if it differs in something that the client asks for. */
  follow(wanted: Snapshot): void {
    const { last } = this;
    if (wanted === last) return;
    this.#position = undefined;
    this.#wanted = wanted;
    if (last === undefined || this.#isSame(wanted, last)) return;
    for (const known of this.#earlier) if (this.#isSame(known, last)) return;
    this.#earlier = sharedList([...this.#earlier.slice(1 - maxEarlier), last]);
  }

  /** A stream begins to go to `wanted` as others did, as `follow` would record it. `atStart`: that of the update. */
  begin(wanted: Snapshot, atStart: OrderAtStart, lineage: SnapshotLineage | undefined): void {
    const { last } = this;
    // Another stream of the client has begun already.
    if (wanted === last) return;
    const before = this.#earlier;
    const types = this.#streams.size > 1 ? this.#typesAsked() : undefined;
    if (atStart.last !== last || atStart.before !== before || atStart.types !== types) {
      atStart.last = last;
      atStart.before = before;
      atStart.types = types;
      this.follow(wanted);
      atStart.after = this.#earlier;
      atStart.position = lineage && this.#positionOn(lineage, wanted);
    }
    this.#earlier = atStart.after;
    this.#wanted = wanted;
    this.#position = atStart.position?.snapshot === wanted ? atStart.position : undefined;
  }

  /** A stream is in sync at its target: from now on the order may follow the lineage. */
  joinLineage(wanted: Snapshot, lineage: SnapshotLineage): void {
    if (this.#position?.snapshot === wanted && !this.#position.isLost) return;
    if (!lineage.isAt(wanted)) return;
    this.follow(wanted);
    this.#position = this.#positionOn(lineage, wanted);
  }

  /**
   * True if nobody needs to tell it of a newer snapshot: it followed the lineage, or one of its streams is about to get
   * the change and tells it. `position`: where the stream of the caller is.
   */
  goesAlong(position: LineagePosition): boolean {
    if (this.#streams.size > 1) return this.#position !== undefined && !this.#position.isLost;
    if (position.isLost) return false;
    // The target of its only stream is the client's, also after changes that the stream passed by.
    this.#position = undefined;
    this.#wanted = position.snapshot;
    return true;
  }

  /** The position of orders whose streams ask for these types, and whose clients had the same earlier targets. */
  #positionOn(lineage: SnapshotLineage, wanted: Snapshot): LineagePosition | undefined {
    // One stream has its own place, and the order goes where that is (`goesAlong`).
    if (this.#streams.size === 1) return undefined;
    const types = new Set(Array.from(this.#streams, ({ subscribers }) => subscribers.map(({ type }) => type)).flat());
    const key = `order ${this.#typesAsked()}/${numberOf(this.#earlier)}`;
    return lineage.position(wanted, key, () => new LineagePosition(wanted, [...types]));
  }

  /** The key for the types that the streams ask for. */
  #typesAsked(): string {
    if (this.#types !== undefined) return this.#types;
    const numbers = new Set<number>();
    for (const { subscribers } of this.#streams) for (const { type } of subscribers) numbers.add(numberOf(type));
    this.#types = [...numbers].sort().join();
    return this.#types;
  }

  /** Whether two snapshots have the same sets of the types that the client asks for. */
  #isSame(one: Snapshot, other: Snapshot): boolean {
    for (const { subscribers } of this.#streams) {
      for (const { type } of subscribers) if (one.of(type) !== other.of(type)) return false;
    }
    return true;
  }
}
