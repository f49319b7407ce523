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
export interface UpstreamStanding {
  readonly isConnected: boolean;
  /** The origin has answered since the start, even if nothing was new. */
  readonly isAnswered: boolean;
  /** The served resources came from the cache. */
  readonly isCached: boolean;
  readonly lastError: UpstreamError | undefined;
  /** The last response with a change. */
  readonly lastUpdate: Date | undefined;
  /** The origin was told that clients rejected something. */
  rejected(type: ResourceType, reason: string): void;
}

/** Follows a client's events. */
export function createUpstreamStanding(client: XdsClient, isCached: boolean): UpstreamStanding {
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
    get isConnected() {
      return client.isConnected;
    },
    get isAnswered() {
      return isAnswered;
    },
    isCached,
    get lastError() {
      return lastError;
    },
    get lastUpdate() {
      return lastUpdate;
    },
    rejected: (type, reason) => failed(`told the origin that ${type.name} was ${reason}`),
  };
}
