import type { RedactedBody } from "@xdskit/api";
import type { SotwOrDelta, TypeStatus } from "@xdskit/protocol";
import type { ResourceState } from "../../contracts/nodes/node-status.js";
import type { Moment } from "../node-status/moment.js";
import { type ClientTargets, type ResourceDetail, resourceDetails } from "../node-status/resource-details.js";
import { rejectionWords } from "../node-status/words.js";
import type { StatusEntry } from "./status-entry.js";
import { ClientResourceStatus, ConfigStatus } from "./status-values.js";

/** One type on one stream, to make entries of. */
export interface TypeOnStream {
  readonly status: TypeStatus;
  readonly variant: SotwOrDelta;
  readonly targets: ClientTargets;
  readonly moment: Moment;
}

/**
 * The state of a resource in the proto's words. CSDS calls a resource in flight STALE. That is our state `sent`, not
 * our `stale`.
 */
const configStatuses: Readonly<Record<ResourceState, ConfigStatus>> = {
  synced: ConfigStatus.SYNCED,
  // It has what it was sent. A name that is asked for, and kept from the client, has no content yet.
  "held-back": ConfigStatus.SYNCED,
  sent: ConfigStatus.STALE,
  "not-sent": ConfigStatus.NOT_SENT,
  rejected: ConfigStatus.ERROR,
  missing: ConfigStatus.NOT_SENT,
};

/** An entry for each resource that the client asked for; with contents if `redacted` is given. */
export function* resourceEntries(of: TypeOnStream, redacted: RedactedBody | undefined): Iterable<StatusEntry> {
  for (const detail of resourceDetails(of.status, of.targets)) yield resourceEntry(of, detail, redacted);
}

/** The same, only for resources that are not at their target. */
export function* entriesBehind(of: TypeOnStream): Iterable<StatusEntry | undefined> {
  for (const detail of resourceDetails(of.status, of.targets)) {
    const isThere = detail.state === "synced" || detail.state === "held-back";
    // The type has the client's words: of many resources, they belong to those that it names.
    const isOne = detail.isBlamed || of.status.rejected?.carried.length === 1;
    const absent = isThere ? undefined : resourceEntry(of, detail, undefined);
    // Skipping entries takes time, too.
    yield absent === undefined || isOne ? absent : { ...absent, error: undefined };
  }
}

function resourceEntry(of: TypeOnStream, detail: ResourceDetail, redacted: RedactedBody | undefined): StatusEntry {
  const { status, moment } = of;
  const { name, state, wanted, used, sent } = detail;
  const { rejected } = status;
  // The newest content, as the proto says, even if it was rejected.
  const shown = wanted ?? used ?? sent;
  const { typeUrl } = status.type;
  return {
    typeUrl,
    name,
    configStatus: state === "held-back" && used === undefined ? ConfigStatus.NOT_SENT : configStatuses[state],
    clientStatus: clientStatus(detail),
    ...versionAndTime(of, detail),
    content: shown && redacted && { typeUrl, value: redacted(shown) },
    error:
      state === "rejected" && rejected !== undefined
        ? { details: rejectionWords(rejected), at: moment.date(rejected.at), version: rejectedVersion(of, detail) }
        : undefined,
  };
}

function clientStatus({ state, used }: ResourceDetail): ClientResourceStatus {
  if (state === "missing") return ClientResourceStatus.DOES_NOT_EXIST;
  if (state === "rejected") return ClientResourceStatus.NACKED;
  return used === undefined ? ClientResourceStatus.REQUESTED : ClientResourceStatus.ACKED;
}

/** The version that the client knows the resource by: its own in delta, in state of the world that of the response. */
function versionAndTime(
  { status, variant, moment }: TypeOnStream,
  { state, used, sent, wanted }: ResourceDetail,
): Pick<StatusEntry, "version" | "lastUpdated"> {
  const onItsWay = state === "sent" || state === "rejected";
  const response = onItsWay ? status.sent : status.acknowledged;
  const resource = onItsWay ? (wanted ?? sent) : used;
  if (response === undefined || resource === undefined) return { version: "" };
  const lastUpdated = response.at === undefined ? undefined : moment.date(response.at);
  return { version: variant === "delta" ? resource.version : response.version, lastUpdated };
}

function rejectedVersion({ status, variant }: TypeOnStream, { rejected }: ResourceDetail): string {
  return (variant === "delta" ? rejected?.version : status.rejected?.version) ?? "";
}
