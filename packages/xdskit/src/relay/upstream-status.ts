import type { AnySourceStatus } from "@xdskit/admin/listener";
import { type Finding, printable } from "@xdskit/api";
import type { Snapshot } from "@xdskit/protocol";
import type { GroupRelay, UpstreamState } from "@xdskit/relay";
import { countsOfSnapshot } from "../output/counts.js";

/** The answer of `/api/v1/sources` about the origin of one group. */
export interface UpstreamStatus extends AnySourceStatus {
  /** The group's name. */
  readonly group: string;
  readonly state: UpstreamState;
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
  const { state, lastError, lastUpdate } = standing;
  return {
    name: `upstream of ${group}`,
    group,
    findings,
    state,
    servers: client.status().map(({ server, connected, active }) => ({ server, connected, active })),
    resources: Object.fromEntries(countsOfSnapshot(snapshot)),
    lastError:
      lastError === undefined ? null : { at: lastError.at.toISOString(), message: printable(lastError.message) },
    rolledBack,
    lastApplied: lastUpdate?.toISOString() ?? null,
  };
}
