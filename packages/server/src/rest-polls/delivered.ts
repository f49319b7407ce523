import { createHash } from "node:crypto";
import { performance } from "node:perf_hooks";
import type { ApiVersion, ResourceType, Version } from "@xdskit/api";
import { isSetVersion, type JsonRequest, type Subscription } from "@xdskit/protocol";
import { dropOldest } from "../basics/maps.js";
import type { PollConnection } from "../contracts/poll-transport.js";

/** The meaning of a poll for the answer before it. */
export type PollVerdict =
  /** Nothing is known about an answer before it. */
  | { readonly kind: "fresh" }
  /** The client came back with the version that it was given. */
  | { readonly kind: "accepted"; readonly version: Version }
  | Unaccepted;

/**
 * The client came back without the version of its last answer (undefined: that version is not known). Its state may be
 * mixed: Envoy keeps the good part of a response that it rejects (Envoy on the wire, 10).
 */
export interface Unaccepted {
  readonly kind: "unaccepted";
  readonly version: Version | undefined;
  /**
   * Whether it is sent that version again: at once, only after the hold, since the answer may have been lost, or not
   * at all.
   */
  readonly again: "at-once" | "after-hold" | "never";
  /** Whether an `error_detail` said so. */
  readonly notified: boolean;
}

/** Identifies the client whose answers are compared with each other. */
export interface Poller {
  readonly node: string;
  readonly connection: PollConnection;
  readonly api: ApiVersion;
  readonly type: ResourceType;
  readonly subscription: Subscription;
}

interface PollDelivery {
  /** The version that the client said it has, shortened. */
  readonly polled: string;
  readonly answered: Version;
  readonly connection: PollConnection;
  readonly at: number;
  /** The number of times that the client has come back with its old version. */
  repeated: number;
}

/** The number of answers that are remembered. A forgotten one costs only another answer. */
const remembered = 50_000;
/** After this time a rejected content is sent once more, in case the rejection was a mistake. Milliseconds. */
const lastingMs = 60_000;

/**
 * Remembers answers until the client comes back with them. Rule 150: Envoy, the one known client, never says over REST
 * that it rejected something. It polls again with the version that it had before, as does a client that lost the
 * answer, or one that keeps no versions. While the connection of an answer is open, the answer was not lost, so a
 * repeated version is a rejection. It is answered once more all the same, since two programs may share a node id.
 * Without this memory, as on another replica, a client is answered again, which does no harm.
 */
export function createDelivered(limit = remembered) {
  const deliveries = new Map<string, PollDelivery>();
  return {
    judge(from: Poller, { version, nonce, error }: JsonRequest): PollVerdict {
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
        return { kind: "unaccepted", version: rejected, again, notified: true };
      }
      if (known === undefined) return { kind: "fresh" };
      known.repeated += 1;
      const unaccepted = { kind: "unaccepted", version: known.answered, notified: false } as const;
      // A missing or unknown version may come from a program that keeps none.
      if (!isSetVersion(version)) return { ...unaccepted, again: known.repeated > 2 ? "after-hold" : "at-once" };
      if (known.repeated === 1 || performance.now() - known.at > lastingMs) return { ...unaccepted, again: "at-once" };
      return { ...unaccepted, again: "never" };
    },
    /** Records that the client was sent this version. */
    note(from: Poller, { version }: JsonRequest, answered: Version) {
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
      dropOldest(deliveries, limit);
    },
  };
}

function keyOf({ node, connection, api, type, subscription: { wildcard, names } }: Poller): string {
  return shortened(`${api} ${type.typeUrl} ${wildcard ? "*" : names.key} ${connection.address} ${node}`);
}

/**
 * Clients choose node ids and versions of any length: long ones are kept as a hash, which bounds the memory in bytes.
 */
function shortened(text: string): string {
  return text.length <= 300 ? text : createHash("sha256").update(text).digest("base64");
}
