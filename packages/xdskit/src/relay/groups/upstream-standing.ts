import { describe, type ResourceType } from "@xdskit/api";
import type { XdsClient } from "@xdskit/client";
import { grpcStatusName } from "../../output/grpc-status.js";
import { printable } from "../../output/printable.js";

/** A problem, for people. */
export interface UpstreamError {
  readonly at: Date;
  readonly message: string;
}

/** The state of a relay's connection to the origin of one group. */
export type UpstreamStanding = ReturnType<typeof createUpstreamStanding>;

/** Follows a client's events. */
export function createUpstreamStanding(client: XdsClient, isCached: boolean) {
  let lastError: UpstreamError | undefined;
  let lastUpdate: Date | undefined;
  let isAnswered = false;
  const failed = (message: string) => {
    lastError = { at: new Date(), message: printable(message) };
  };
  client.on((event) => {
    switch (event.kind) {
      case "disconnected":
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
  });
  return {
    get isConnected(): boolean {
      return client.isConnected;
    },
    /** The origin has answered since the start, even if nothing was new. */
    get isAnswered(): boolean {
      return isAnswered;
    },
    /** The served resources came from the cache. */
    isCached,
    get lastError(): UpstreamError | undefined {
      return lastError;
    },
    /** The last response with a change. */
    get lastUpdate(): Date | undefined {
      return lastUpdate;
    },
    /** The origin was told that clients rejected something. */
    rejected: (type: ResourceType, reason: string) => failed(`told the origin that ${type.name} was ${reason}`),
  };
}
