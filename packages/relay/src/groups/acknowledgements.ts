import type { Resource, ResourceName, ResourceType } from "@xdskit/api";
import type { ClientOptions } from "@xdskit/client";
import type { ResourceUpdate } from "@xdskit/protocol";
import type { ConfigArrivalOutcome, LayerName, XdsServer } from "@xdskit/server";
import type { GroupKnown } from "./group-known.js";
import type { PendingChanges } from "./pending/pending-changes.js";
import { type NackPolicy, verdictOf } from "./verdict.js";

export interface AcknowledgementOptions {
  readonly server: Pick<XdsServer, "contentArrival">;
  /** The group's layer. */
  readonly layer: LayerName;
  readonly nack: NackPolicy;
  /** How long clients may take, in milliseconds. 0: do not wait. */
  readonly ackWaitMs: number;
  /** The origin is told that clients rejected something. */
  rejected(type: ResourceType, reason: string): void;
}

/**
 * How many responses may wait: each is checked whenever a client makes progress. Further responses are acknowledged at
 * once.
 */
const maxWaitingResponses = 32;

/**
 * Implements `ClientOptions.acknowledge`: resolves when the clients of a group have answered the content of a response,
 * or after a while, and rejects with their reasons if they rejected it. Clients have nothing to answer about a change
 * that waits.
 */
export function createAcknowledgements(
  { server, layer, nack, ackWaitMs, rejected }: AcknowledgementOptions,
  { standing, retained }: Pick<GroupKnown, "standing" | "retained">,
  { isWaiting }: Pick<PendingChanges, "isWaiting">,
): NonNullable<ClientOptions["acknowledge"]> {
  let waiting = 0;

  async function outcomeOf(update: ResourceUpdate): Promise<ConfigArrivalOutcome> {
    // By then its content is in the server's layers: watchers are called in this turn.
    await new Promise((resolve) => setImmediate(resolve));
    const upserted = answeredResources(update);
    const isServed = ({ name }: { readonly name: ResourceName }) => !isWaiting(update.type, name);
    const removed = update.removed.filter(isServed).map(({ name }) => ({ type: update.type, name }));
    const arrival = server.contentArrival({ layer, upserted: upserted.filter(isServed), removed });
    return await arrival.done({ timeout: ackWaitMs });
  }

  async function wait(update: ResourceUpdate): Promise<void> {
    waiting += 1;
    try {
      const reason = verdictOf(await outcomeOf(update), nack);
      if (reason === undefined) return;
      standing.rejected(update.type, reason);
      rejected(update.type, reason);
      throw new Error(reason);
    } finally {
      waiting -= 1;
    }
  }

  return async (update) => {
    if (update.upserted.length + update.removed.length === 0) return;
    try {
      if (ackWaitMs > 0 && waiting < maxWaitingResponses) await wait(update);
    } finally {
      // Its version is known only now.
      retained.touch(update.type);
    }
  };
}

/** Without updates that are not resources; the layer has reported them. */
function answeredResources({ upserted }: ResourceUpdate): readonly Resource[] {
  return upserted.flatMap((received) => {
    try {
      return [received.resource()];
    } catch {
      return [];
    }
  });
}
