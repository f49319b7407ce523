import type { Resource, ResourceName, ResourceType } from "@xdskit/api";
import type { ResourceUpdate } from "@xdskit/protocol";
import type { ConfigArrivalOutcome, LayerName, XdsServer } from "@xdskit/server";
import { type NackPolicy, verdictOf } from "./verdict.js";

export interface AcknowledgementOptions {
  readonly server: Pick<XdsServer, "contentArrival">;
  /** The group's. */
  readonly layer: LayerName;
  readonly policy: NackPolicy;
  /** What the origin said of it is not served yet, and clients have nothing to answer. */
  isWaiting(type: ResourceType, name: ResourceName): boolean;
  /** How long clients may take, in milliseconds. 0: nobody is waited for. */
  readonly waitMs: number;
  /** Told of every rejection that goes to the origin. */
  rejected(update: ResourceUpdate, reason: string): void;
}

/** So many responses may wait at once: each is looked at whenever any client comes further. What comes beyond is acknowledged at once. */
const mostWaiting = 32;

/**
 * What `ClientOptions.acknowledge` calls: resolves when the clients of a group have answered what a response brought, at the latest after a while, and rejects with their
 * reasons where they rejected it.
 */
export function createAcknowledgements(options: AcknowledgementOptions): (update: ResourceUpdate) => Promise<void> {
  const { server, layer, policy, waitMs } = options;
  let waiting = 0;

  async function outcomeOf(update: ResourceUpdate): Promise<ConfigArrivalOutcome> {
    // What it brought is in the server's layers by then: watchers are called in this turn.
    await new Promise((resolve) => setImmediate(resolve));
    const upserted = resourcesOf(update);
    const isServed = ({ name }: { readonly name: ResourceName }) => !options.isWaiting(update.type, name);
    const removed = update.removed.filter(isServed).map(({ name }) => ({ type: update.type, name }));
    const arrival = server.contentArrival({ layer, upserted: upserted.filter(isServed), removed });
    return await arrival.done({ timeout: waitMs });
  }

  return async (update) => {
    if (waitMs === 0 || waiting >= mostWaiting || update.upserted.length + update.removed.length === 0) return;
    waiting += 1;
    try {
      const reason = verdictOf(await outcomeOf(update), policy);
      if (reason === undefined) return;
      options.rejected(update, reason);
      throw new Error(reason);
    } finally {
      waiting -= 1;
    }
  };
}

/** Without those that are no resources; who took them has reported it. */
function resourcesOf({ upserted }: ResourceUpdate): readonly Resource[] {
  return upserted.flatMap((received) => {
    try {
      return [received.resource()];
    } catch {
      return [];
    }
  });
}
