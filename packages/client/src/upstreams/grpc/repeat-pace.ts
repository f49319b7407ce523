import type { ResourceType } from "@xdskit/api";
import type { ClientStreamEffect, Variant } from "@xdskit/protocol";

/** So often a server may say the same again as fast as it can. */
const freeRepeats = 20;
const mostMs = 1_000;
/** What was waited for as long as this does not come as fast as it can. */
const ownPaceMs = 100;

/**
 * How long a server waits for the next response to be read that says the same again and again: go-control-plane answers a rejection with what was rejected, at once, and
 * a wildcard beside names with what it sent. Neither end would do anything else.
 */
export interface RepeatPace {
  /** Milliseconds, by what came of one response, and for how long it was waited for. */
  after(effects: readonly ClientStreamEffect[], waitedMs: number): number;
}

export function createRepeatPace(variant: Variant): RepeatPace {
  const last = new Map<ResourceType, { readonly version: string; readonly repeats: number }>();
  return {
    after(effects, waitedMs) {
      const received = effects.find((effect) => effect.kind === "received");
      if (received === undefined) return 0;
      const { type, version } = received;
      const before = last.get(type);
      const isRejected = effects.some(({ kind }) => kind === "rejected");
      // Of other types many responses may say that nothing is new, each of other names; and a heartbeat of a full state is all of it (rule 130).
      const saysAll = type.fullState && variant === "sotw" && !received.keepsAlive;
      const isNews = effects.some(({ kind }) => kind === "update") || before?.version !== version;
      const isSlow = waitedMs >= ownPaceMs;
      const repeats = isNews || isSlow || !(isRejected || saysAll) ? 0 : (before?.repeats ?? 0) + 1;
      last.set(type, { version, repeats });
      return repeats <= freeRepeats ? 0 : Math.min(2 ** (repeats - freeRepeats), mostMs);
    },
  };
}
