import type { OrderedStream } from "./ordered-stream.js";
import { askingTime } from "./ordering-times.js";

/**
 * Whether resources that name a cluster wait for its load assignment on another stream. `asking`: they wait until the
 * client asks for it there and acknowledges it. `acknowledging`: they wait until it acknowledges it, if it asks for it.
 * `none`: they do not wait, or no longer. The same holds for all types that another type warms.
 */
export type WarmingWait = "none" | "acknowledging" | "asking";

/** Until when resources wait so, in milliseconds. */
export type WarmingEnds = Readonly<Record<Exclude<WarmingWait, "none">, number>>;

/** A cluster on its own stream is acknowledged before it is warm. `streams`: those that share an order. */
export function warmingEnds(streams: Iterable<OrderedStream>, acknowledgement: number): WarmingEnds {
  let last: number | undefined;
  for (const { subscribers } of streams) {
    for (const { type, subscription, exchange } of subscribers) {
      const { lastAcked } = exchange;
      // A client that asks for clusters by name learns the names from routes, so its routes cannot wait for clusters.
      if (!type.acknowledgedWarm || lastAcked === undefined || !subscription.wildcard) continue;
      last = Math.max(last ?? lastAcked.at, lastAcked.at);
    }
  }
  // A time long ago would not do: the wait may be infinite.
  if (last === undefined) return { asking: Number.NEGATIVE_INFINITY, acknowledging: Number.NEGATIVE_INFINITY };
  return { asking: last + Math.min(askingTime, acknowledgement), acknowledging: last + acknowledgement };
}

export function warmingWaitAt(now: number, { asking, acknowledging }: WarmingEnds): WarmingWait {
  if (acknowledging <= now) return "none";
  return asking > now ? "asking" : "acknowledging";
}
