import type { ResourceType } from "@xdskit/api";
import type { ClientStreamEffect, SotwOrDelta } from "@xdskit/protocol";

/** The number of times that a server may repeat itself as fast as it can. */
const freeRepeats = 20;
const maxMs = 1_000;
/** A server may repeat itself once in this many milliseconds: whenever it waits so long, a repeat is forgotten. */
const ownPaceMs = 100;

/**
 * The wait before reading from a server that repeats itself: go-control-plane answers a NACK at once with the rejected
 * content, and a wildcard beside names with its previous response. Without a wait, neither end would do anything else.
 */
export interface RepeatPace {
  /** Milliseconds, from the effects of one response, and the time that it took. */
  after(effects: readonly ClientStreamEffect[], waitedMs: number): number;
}

export function createRepeatPace(variant: SotwOrDelta): RepeatPace {
  const last = new Map<ResourceType, { readonly version: string; readonly repeats: number }>();
  return {
    after(effects: readonly ClientStreamEffect[], waitedMs: number): number {
      const received = effects.find((effect) => effect.kind === "received");
      if (received === undefined) return 0;
      const { type, version } = received;
      const before = last.get(type);
      const isRejected = effects.some(({ kind }) => kind === "rejected");
      // For other types many responses may bring nothing new, each for other names; and the heartbeat of a full state
      // is the whole state (rule 130).
      const saysAll = type.fullState && variant === "sotw" && !received.keepsAlive;
      const isNews = effects.some(({ kind }) => kind === "update") || before?.version !== version;
      const isRepeat = !isNews && (isRejected || saysAll);
      const forgotten = Math.floor(waitedMs / ownPaceMs);
      const repeats = isRepeat ? Math.max(0, (before?.repeats ?? 0) + 1 - forgotten) : 0;
      last.set(type, { version, repeats });
      return repeats <= freeRepeats ? 0 : Math.min(2 ** (repeats - freeRepeats), maxMs);
    },
  };
}
