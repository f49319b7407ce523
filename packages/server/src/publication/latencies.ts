import { getOrInsert, type ResourceType } from "@xdskit/api";
import { Histogram, timeBounds } from "../basics/histogram.js";
import type { LagStats, SourceDelayStats, StageWaitStats } from "../contracts/stats.js";

/** The number of groups or sources with separate times: a function may name a group for each node. */
const maxGroups = 100;
/** Stands for all further ones. */
const otherGroups = "(other)";

/** From the publication of changes to their acknowledgement, for the nodes of one group. */
export class GroupLags {
  readonly #byType = new Map<ResourceType, Histogram>();

  /** In milliseconds. */
  record(type: ResourceType, ms: number): void {
    let histogram = this.#byType.get(type);
    if (histogram === undefined) {
      histogram = new Histogram(timeBounds);
      this.#byType.set(type, histogram);
    }
    histogram.record(ms);
  }

  stats(group: string): readonly LagStats[] {
    return Array.from(this.#byType, ([{ typeUrl, name }, ms]) => ({ typeUrl, type: name, group, ms: ms.stats() }));
  }
}

/** The time that changes take, and the part of it spent on waiting for answers. */
export class Latencies {
  readonly #groups = new Map<string, GroupLags>();
  readonly #waits = new Map<ResourceType, Histogram>();
  readonly #sources = new Map<string, Histogram>();

  /** The times of a group, to which its streams add. */
  ofGroup(group: string): GroupLags {
    return entryIn(this.#groups, group, () => new GroupLags());
  }

  /** A change of a source took this many milliseconds, from when that heard of it until it was published. */
  tookSource(source: string, ms: number): void {
    entryIn(this.#sources, source, () => new Histogram(timeBounds)).record(ms);
  }

  /** A type of a client waited for this many milliseconds, until others were acknowledged. */
  readonly waited = (type: ResourceType, ms: number): void => {
    getOrInsert(this.#waits, type, () => new Histogram(timeBounds)).record(ms);
  };

  get lags(): readonly LagStats[] {
    return Array.from(this.#groups, ([group, lags]) => lags.stats(group)).flat();
  }

  get stageWaits(): readonly StageWaitStats[] {
    return Array.from(this.#waits, ([{ typeUrl, name }, ms]) => ({ typeUrl, type: name, ms: ms.stats() }));
  }

  get sourceDelays(): readonly SourceDelayStats[] {
    return Array.from(this.#sources, ([source, ms]) => ({ source, ms: ms.stats() }));
  }
}

/** The entry of a name, or that of all further ones. */
function entryIn<Entry>(places: Map<string, Entry>, name: string, make: () => Entry): Entry {
  return getOrInsert(places, places.has(name) || places.size < maxGroups ? name : otherGroups, make);
}
