import type { Resource, ResourceName, ResourceType } from "@xdskit/api";
import type { ResourceUpdate } from "@xdskit/protocol";
import type { ConfigArrivalOutcome, LayerName, XdsServer } from "@xdskit/server";
import { type NackPolicy, verdictOf } from "./verdict.js";

export interface AcknowledgementOptions {
  readonly server: Pick<XdsServer, "contentArrival">;
  /** The group's layer. */
  readonly layer: LayerName;
  readonly policy: NackPolicy;
  /** Whether the last change of a resource is not served yet, so that clients have nothing to answer. */
  isWaiting(type: ResourceType, name: ResourceName): boolean;
  /** How long clients may take, in milliseconds. 0: do not wait. */
  readonly waitMs: number;
  /** Told of every rejection that goes to the origin. */
  rejected(update: ResourceUpdate, reason: string): void;
  /** Told of every response with a change, before it is answered. */
  answered(update: ResourceUpdate): void;
}

/**
 * How many responses may wait: each is checked whenever a client makes progress. Further responses are acknowledged at
 * once.
 */
const maxWaitingResponses = 32;

/**
 * Implements `ClientOptions.acknowledge`: resolves when the clients of a group have answered the content of a response,
 * or after a while, and rejects with their reasons if they rejected it.
 */
export function createAcknowledgements(options: AcknowledgementOptions): (update: ResourceUpdate) => Promise<void> {
  const { server, layer, policy, waitMs } = options;
  let waiting = 0;

  async function outcomeOf(update: ResourceUpdate): Promise<ConfigArrivalOutcome> {
    // By then its content is in the server's layers: watchers are called in this turn.
    await new Promise((resolve) => setImmediate(resolve));
    const upserted = answeredResources(update);
    const isServed = ({ name }: { readonly name: ResourceName }) => !options.isWaiting(update.type, name);
    const removed = update.removed.filter(isServed).map(({ name }) => ({ type: update.type, name }));
    const arrival = server.contentArrival({ layer, upserted: upserted.filter(isServed), removed });
    return await arrival.done({ timeout: waitMs });
  }

  async function wait(update: ResourceUpdate): Promise<void> {
    waiting += 1;
    try {
      const reason = verdictOf(await outcomeOf(update), policy);
      if (reason === undefined) return;
      options.rejected(update, reason);
      throw new Error(reason);
    } finally {
      waiting -= 1;
    }
  }

  return async (update) => {
    if (update.upserted.length + update.removed.length === 0) return;
    try {
      if (waitMs > 0 && waiting < maxWaitingResponses) await wait(update);
    } finally {
      options.answered(update);
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
