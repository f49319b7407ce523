import type { Finding } from "@xdskit/api";
import type { Snapshot } from "@xdskit/protocol";
import type { AnySourceStatus } from "../admin/source-status.js";
import { countsOfSnapshot } from "../output/counts.js";
import type { GroupRelay } from "./group-relay.js";

/** What `/api/v1/sources` tells about the origin of one group. */
export interface UpstreamStatus extends AnySourceStatus {
  /** Of its nodes. */
  readonly group: string;
  /**
   * `pending`: nothing is known yet. `cached`: what is served was read from the cache, and the origin has said nothing yet. `connected`: the origin is there; one that
   * says nothing to what is claimed from the cache agrees with it.
   * `away`: it is not, and what it said last is served.
   */
  readonly state: "pending" | "cached" | "connected" | "away";
  readonly servers: readonly {
    readonly server: string;
    readonly connected: boolean;
    /** Whether what is served is its. */
    readonly active: boolean;
  }[];
  /** What the group is served now, by type. */
  readonly resources: Readonly<Record<string, number>>;
  /** The last thing that went wrong, however long ago. */
  readonly lastError: { readonly at: string; readonly message: string } | null;
}

/** `findings`: what could not be served. */
export function upstreamStatus(
  { group, client, standing }: GroupRelay,
  snapshot: Snapshot | undefined,
  findings: readonly Finding[],
): UpstreamStatus {
  const { isConnected, isAnswered, isCached, lastError, lastUpdate } = standing;
  const known = isAnswered ? "away" : isCached ? "cached" : "pending";
  return {
    name: `upstream of ${group}`,
    group,
    findings,
    state: isConnected && (isAnswered || isCached) ? "connected" : known,
    servers: client.status().map(({ server, connected, active }) => ({ server, connected, active })),
    resources: Object.fromEntries(countsOfSnapshot(snapshot)),
    lastError: lastError === undefined ? null : { at: lastError.at.toISOString(), message: lastError.message },
    lastApplied: lastUpdate?.toISOString() ?? null,
  };
}
