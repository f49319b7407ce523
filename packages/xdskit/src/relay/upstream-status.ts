import type { Finding } from "@xdskit/api";
import type { Snapshot } from "@xdskit/protocol";
import type { AnySourceStatus } from "../admin/source-status.js";
import { countsOfSnapshot } from "../output/counts.js";
import type { GroupRelay } from "./groups/group-relay.js";

/** The answer of `/api/v1/sources` about the origin of one group. */
export interface UpstreamStatus extends AnySourceStatus {
  /** The group's name. */
  readonly group: string;
  /**
   * `pending`: nothing is known yet. `cached`: the served resources come from the cache, and the origin has not
   * answered yet. `connected`: the origin is there; if it does not answer a claim from the cache, it agrees. `away`:
   * the origin is away, and its last resources are served.
   */
  readonly state: "pending" | "cached" | "connected" | "away";
  readonly servers: readonly {
    readonly server: string;
    readonly connected: boolean;
    /** Whether the served resources come from this server. */
    readonly active: boolean;
  }[];
  /** The group's served resources, by type. */
  readonly resources: Readonly<Record<string, number>>;
  /** The last error, however old. */
  readonly lastError: { readonly at: string; readonly message: string } | null;
}

/** `findings`: resources that could not be served. */
export function upstreamStatus(
  { group, client, standing }: GroupRelay,
  snapshot: Snapshot | undefined,
  findings: readonly Finding[],
  rolledBack: UpstreamStatus["rolledBack"] = null,
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
    rolledBack,
    lastApplied: lastUpdate?.toISOString() ?? null,
  };
}
