import { getOrInsert, type ResourceType } from "@xdskit/api";
import type { ClientEvent } from "../events/client-event.js";

/** The counts of one server. */
interface CountsOfServer {
  /** Streams of one type, or of all types (undefined), whose last attempt brought no answer. */
  readonly failing: Set<ResourceType | undefined>;
  failures: number;
  readonly updates: Map<ResourceType, { good: number; bad: number }>;
}

/** Counts events by server. */
export function createServerCounts() {
  const counts = new Map<string, CountsOfServer>();
  const of = (server: string) => {
    const known = getOrInsert(counts, server, () => ({ failing: new Set(), failures: 0, updates: new Map() }));
    return known;
  };
  const updatesOf = (server: string, type: ResourceType) => {
    const { updates } = of(server);
    const known = getOrInsert(updates, type, () => ({ good: 0, bad: 0 }));
    return known;
  };
  return {
    count(event: ClientEvent) {
      switch (event.kind) {
        case "connected":
          of(event.server);
          break;
        case "responded": {
          const { failing } = of(event.server);
          failing.delete(event.type);
          // On one stream for all types, any answer is an answer of the stream.
          failing.delete(undefined);
          updatesOf(event.server, event.type).good += event.good;
          break;
        }
        case "rejected":
          updatesOf(event.server, event.type).bad += event.bad.length;
          break;
        case "failed": {
          if (event.nack) {
            if (event.type !== undefined) updatesOf(event.server, event.type).bad += 1;
            break;
          }
          const known = of(event.server);
          // A78 counts the change from healthy to unhealthy, not each failure after it.
          if (known.failing.size === 0) known.failures += 1;
          known.failing.add(event.type);
          break;
        }
      }
    },
    /** By name. */
    get servers(): Iterable<readonly [name: string, { readonly healthy: boolean; readonly failures: number }]> {
      return Array.from(counts, ([name, { failing, failures }]) => {
        return [name, { healthy: failing.size === 0, failures }] as const;
      });
    },
    updates: (): readonly {
      readonly server: string;
      readonly type: ResourceType;
      readonly good: number;
      readonly bad: number;
    }[] =>
      Array.from(counts, ([server, { updates }]) =>
        Array.from(updates, ([type, { good, bad }]) => ({ server, type, good, bad })),
      ).flat(),
  };
}
