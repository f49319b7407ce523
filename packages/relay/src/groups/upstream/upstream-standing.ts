import { describe, type ResourceType } from "@xdskit/api";
import type { ClientEvent } from "@xdskit/client";
import { grpcStatusName } from "@xdskit/grpc-server/messages";

/** A problem, for people; the origin has a part in its text. */
export interface UpstreamError {
  readonly at: Date;
  readonly message: string;
}

/**
 * `pending`: nothing is known yet. `cached`: the served resources come from the cache, and the origin has not
 * answered yet. `connected`: the origin is there; if it does not answer a claim from the cache, it agrees. `away`:
 * the origin is away, and its last resources are served.
 */
export type UpstreamState = "pending" | "cached" | "connected" | "away";

/** The state of a relay's connection to the origin of one group. */
export interface UpstreamStanding {
  readonly isConnected: boolean;
  /** Whether the origin can be asked for a type: others may be away, or only this one. */
  isConnectedFor(type: ResourceType): boolean;
  readonly state: UpstreamState;
  /** The served resources came from the cache. */
  readonly isCached: boolean;
  readonly lastError: UpstreamError | undefined;
  /** The last response with a change. */
  readonly lastUpdate: Date | undefined;
  /** The origin was told that clients rejected something. */
  rejected(type: ResourceType, reason: string): void;
  /** `isNowConnected`: of the client. Returns whether a stream is up after a time without any. */
  event(event: ClientEvent, isNowConnected: boolean): boolean;
}

/** Follows the events of a client from its start. */
export function createUpstreamStanding(isCached: boolean): UpstreamStanding {
  let lastError: UpstreamError | undefined;
  let lastUpdate: Date | undefined;
  let isAnswered = false;
  // Not by the names of servers: two streams may lead to one.
  let isConnected = false;
  /** The servers with a stream that is up, by its type; undefined: one for all types. */
  const up = new Map<ResourceType | undefined, Set<string>>();
  const failed = (message: string) => {
    lastError = { at: new Date(), message };
  };

  return {
    event(event: ClientEvent, isNowConnected: boolean): boolean {
      const wasConnected = isConnected;
      isConnected = isNowConnected;
      switch (event.kind) {
        case "connected":
          up.set(event.type, (up.get(event.type) ?? new Set()).add(event.server));
          break;
        case "disconnected":
          up.get(event.type)?.delete(event.server);
          if (event.error !== undefined)
            failed(`${event.server}: ${event.error.message} (${grpcStatusName(event.error.code)})`);
          break;
        case "failed":
          failed(event.error.findings.map(describe).join("; "));
          break;
        case "rejected":
          failed(`${event.server}: rejected ${event.type.name}: ${event.message}`);
          break;
        case "responded":
          isAnswered = true;
          break;
        case "updated":
          lastUpdate = new Date();
          break;
      }
      return !wasConnected && isConnected;
    },
    get isConnected(): boolean {
      return isConnected;
    },
    isConnectedFor: (type: ResourceType): boolean => [type, undefined].some((each) => (up.get(each)?.size ?? 0) > 0),
    get state(): UpstreamState {
      if (isConnected && (isAnswered || isCached)) return "connected";
      if (isAnswered) return "away";
      return isCached ? "cached" : "pending";
    },
    isCached,
    get lastError(): UpstreamError | undefined {
      return lastError;
    },
    get lastUpdate(): Date | undefined {
      return lastUpdate;
    },
    rejected: (type: ResourceType, reason: string) => failed(`told the origin that ${type.name} was ${reason}`),
  };
}
