import { createHash } from "node:crypto";
import { performance } from "node:perf_hooks";
import type { ApiVersion, ResourceType, Version } from "@xdskit/api";
import { isSetVersion, type JsonRequest, type Subscription } from "@xdskit/protocol";
import type { PollConnection } from "../poll-transport.js";

/** What a poll says of the answer before it. */
export type Verdict =
  /** Nothing that is known here. */
  | { readonly kind: "fresh" }
  /** It came back with the version that it was given. */
  | { readonly kind: "accepted"; readonly version: Version }
  | Unaccepted;

/**
 * It came back without the version that it was given last (undefined: which that was is not known). What it has may be a mixture by now: Envoy keeps
 * the good part of what it rejects (Envoy on the wire, 10).
 */
export interface Unaccepted {
  readonly kind: "unaccepted";
  readonly version: Version | undefined;
  /** Whether it is sent that version again: at once, only after the hold, since it may have been lost, or not at all. */
  readonly again: "at-once" | "after-hold" | "never";
  /** By an `error_detail`. */
  readonly told: boolean;
}

/**
 * Remembers what was answered until the client comes back with it. Rule 150: Envoy, the one client there is, never says over REST that it rejected
 * something: it polls again with the version that it had before, which is also what a client does that lost the answer, or that does not keep versions.
 * While the connection is open that an answer went over, it was not lost, so what is repeated then is a rejection; it is answered once more all the
 * same, since two programs may have one node id. Without this memory, as on another replica, a client is answered again, no worse.
 */
export interface Delivered {
  judge(from: Poller, request: JsonRequest): Verdict;
  /** The client was sent that version. */
  note(from: Poller, request: JsonRequest, version: Version): void;
}

/** Whose answers are compared with each other. */
export interface Poller {
  readonly node: string;
  readonly connection: PollConnection;
  readonly api: ApiVersion;
  readonly type: ResourceType;
  readonly subscription: Subscription;
}

interface Delivery {
  /** What the client said to have, in short. */
  readonly polled: string;
  readonly answered: Version;
  readonly connection: PollConnection;
  readonly at: number;
  /** How often the client has come back with what it had before. */
  repeated: number;
}

/** How many answers are remembered. One that is forgotten costs an answer, no worse. */
const remembered = 50_000;
/** After this time a rejected content is sent once more, should all this have been a mistake. Milliseconds. */
const lastingMs = 60_000;

export function createDelivered(limit = remembered): Delivered {
  const deliveries = new Map<string, Delivery>();
  return {
    judge(from, { version, nonce, error }) {
      const key = keyOf(from);
      const last = deliveries.get(key);
      if (last?.answered === version && error === undefined) {
        deliveries.delete(key);
        return { kind: "accepted", version };
      }
      const known = last !== undefined && last.polled === shortened(version) && last.connection.open ? last : undefined;
      if (error !== undefined) {
        // The nonce is the version, if the client sends it.
        const rejected: Version | undefined = isSetVersion(`${nonce}`) ? `${nonce}` : known?.answered;
        const again = rejected === undefined ? "after-hold" : "never";
        return { kind: "unaccepted", version: rejected, again, told: true };
      }
      if (known === undefined) return { kind: "fresh" };
      known.repeated += 1;
      const said = { kind: "unaccepted", version: known.answered, told: false } as const;
      // What is no version of ours, or none at all, may come from a program that keeps none.
      if (!isSetVersion(version)) return { ...said, again: known.repeated > 2 ? "after-hold" : "at-once" };
      if (known.repeated === 1 || performance.now() - known.at > lastingMs) return { ...said, again: "at-once" };
      return { ...said, again: "never" };
    },
    note(from, { version }, answered) {
      const key = keyOf(from);
      const polled = shortened(version);
      const last = deliveries.get(key);
      const same = last?.polled === polled && last.answered === answered;
      const { connection } = from;
      // Deleted and set again, so that the oldest is the first in the map.
      deliveries.delete(key);
      deliveries.set(key, {
        polled,
        answered,
        connection,
        at: performance.now(),
        repeated: same ? last.repeated : 0,
      });
      if (deliveries.size <= limit) return;
      for (const oldest of deliveries.keys()) {
        deliveries.delete(oldest);
        break;
      }
    },
  };
}

function keyOf({ node, connection, api, type, subscription: { wildcard, names } }: Poller): string {
  return shortened(`${api} ${type.typeUrl} ${wildcard ? "*" : names.key} ${connection.address} ${node}`);
}

/** Clients choose node ids and versions, in any length: long ones are kept as a hash, so that what is kept has a bound in bytes, too. */
function shortened(text: string): string {
  return text.length <= 300 ? text : createHash("sha256").update(text).digest("base64");
}
