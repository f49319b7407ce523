import { getOrInsert, maxFindings, type ResourceType, resourceTypes, typeUrlPrefix } from "@xdskit/api";
import { ClientResourceStatus } from "@xdskit/api/envoy/admin/v3/config_dump_shared";
import { ConfigStatus } from "@xdskit/api/envoy/service/status/v3/csds";
import {
  type ClientConfig,
  type NodeRevision,
  nodeStanding,
  readRevisionsEntry,
  readTypeSummary,
  type TypeSummary,
} from "@xdskit/server/status-client";

/**
 * How far a client is with a type, or with one resource.
 * - `synced`: it acknowledged what it must have.
 * - `held-back`: the same, and a rollout or a quarantine of its group keeps the rest from it.
 * - `sent`: it was sent, and the client has not answered.
 * - `pending`: it must still be sent; or the client asked, and has nothing yet.
 * - `stale`: one of these for longer than 15 s, without an answer.
 * - `rejected`: the client rejected (NACK) it.
 * - `missing`: the client asks for a name that does not exist.
 * - `unknown`: not reported.
 */
export type ClientState = "synced" | "held-back" | "sent" | "pending" | "stale" | "rejected" | "missing" | "unknown";

/** Whether a client does not run all that there is for it: it rejected some, lacks some, or a rollout holds it back. */
export function isBehind(state: ClientState): boolean {
  return state !== "synced" && state !== "missing" && state !== "unknown";
}

/** The error of a client about a sent version. */
export interface ErrorView {
  readonly details: string;
  readonly at: Date | undefined;
  readonly version: string;
}

/** One resource of a client. */
export interface ResourceStatusView {
  readonly name: string;
  readonly state: ClientState;
  readonly version: string;
  readonly lastUpdated: Date | undefined;
  readonly error: ErrorView | undefined;
}

/** One type of a client. Versions are undefined where they are not reported, or where each resource has its own. */
export interface TypeView extends Pick<TypeSummary, "why" | "waits" | "heldBack" | "untoldTtls"> {
  /** The short name: `cluster`. */
  readonly type: string;
  readonly typeUrl: string;
  readonly state: ClientState;
  /** The version that the client is known to use. */
  readonly acknowledged: string | undefined;
  readonly sent: string | undefined;
  /** The version that must still be sent. */
  readonly wanted: string | undefined;
  readonly rejected: string | undefined;
  /** How many resources are not synced; at least this many if `behindIsLeast`. */
  readonly behind: number;
  readonly behindIsLeast: boolean;
  /** When it last changed for the client, if reported. */
  readonly lastUpdated: Date | undefined;
  readonly error: ErrorView | undefined;
  /** Resources that are not synced. */
  readonly resources: readonly ResourceStatusView[];
}

/** One client, as a CSDS server reports it. */
export interface ClientView {
  readonly id: string;
  readonly cluster: string;
  /** Such as `envoy 1.40.0`, `gRPC Go 1.85.0`. */
  readonly userAgent: string;
  /** For a gRPC client: its target. */
  readonly scope: string;
  readonly state: ClientState;
  /** Why it is not synced: what its worst type says. */
  readonly why: string;
  /** The newest of each of its layers, and whether it runs that; undefined: the server does not say. */
  readonly revisions?: readonly NodeRevision[] | undefined;
  readonly types: readonly TypeView[];
}

type ViewEntry = ClientConfig["genericXdsConfigs"][number];

/** Reads the report about one client, from a server or from the client itself. */
export function clientView(config: ClientConfig): ClientView {
  const { node, clientScope } = config;
  const byType = new Map<string, ViewEntry[]>();
  let revisions: readonly NodeRevision[] | undefined;
  for (const entry of [...config.genericXdsConfigs, ...olderEntries(config)]) {
    const found = readRevisionsEntry(entry);
    if (found !== undefined) {
      revisions = found;
      continue;
    }
    getOrInsert(byType, entry.typeUrl, () => []).push(entry);
  }
  const types = Array.from(byType, ([typeUrl, entries]) => typeView(typeUrl, entries)).sort(inOrder);
  const version = node?.userAgentVersionType.case === "userAgentVersion" ? node.userAgentVersionType.value : "";
  return {
    id: node?.id ?? "",
    cluster: node?.cluster ?? "",
    scope: clientScope,
    userAgent: [node?.userAgentName ?? "", version].filter((part) => part !== "").join(" "),
    ...standingOf(types),
    revisions,
    types,
  };
}

/** Servers that report types only, as xdskit in its summary and Istio do, give entries without names. */
function typeView(typeUrl: string, entries: readonly ViewEntry[]): TypeView {
  const whole = entries.filter(({ name }) => name === "");
  const named = entries.filter(({ name }) => name !== "").map(resourceView);
  const behind = named.filter(({ state }) => state !== "synced");
  const summary = whole.map(readTypeSummary).find((found) => found !== undefined);
  const versionIn = (...states: readonly ClientState[]) => {
    const from = whole.length > 0 ? whole.map(resourceView) : named;
    return onlyOne(from.filter(({ state }) => states.includes(state)).map(({ version }) => version));
  };
  const all = [...whole.map(resourceView), ...named];
  const error = newest(all.flatMap((each) => each.error ?? []));
  const acknowledged = whole.length > 0 ? versionIn("synced") : onlyOne(used(entries));
  const rejected = versionIn("rejected");
  return {
    type: typeName(typeUrl),
    typeUrl,
    acknowledged,
    // A server of ours says it. Otherwise the type as a whole counts, if the server tells of that.
    state: summary?.state ?? worst((whole.length > 0 ? whole.map(resourceView) : named).map(({ state }) => state)),
    sent: versionIn("sent") ?? (whole.length > 0 ? (rejected ?? acknowledged) : versionIn("synced")),
    wanted: whole.length > 0 ? versionIn("pending") : undefined,
    rejected: rejected === undefined ? undefined : (error?.version ?? rejected) || undefined,
    behind: summary?.behind ?? behind.filter(({ state }) => state !== "missing").length,
    behindIsLeast: summary === undefined && whole.length > 0 && behind.length >= maxFindings,
    lastUpdated: latest(all.flatMap(({ lastUpdated }) => lastUpdated ?? [])),
    error,
    why: summary?.why || error?.details || "",
    waits: summary?.waits ?? [],
    heldBack: summary?.heldBack,
    untoldTtls: summary?.untoldTtls ?? 0,
    resources: behind,
  };
}

/** The versions that the client is known to use. */
function used(entries: readonly ViewEntry[]): readonly string[] {
  const acked = ClientResourceStatus.ACKED;
  const inUse = entries.filter(
    ({ configStatus, clientStatus }) => clientStatus === acked || configStatus === ConfigStatus.SYNCED,
  );
  return inUse.filter(({ configStatus }) => configStatus !== ConfigStatus.STALE).map(({ versionInfo }) => versionInfo);
}

function resourceView(entry: ViewEntry): ResourceStatusView {
  const { name, versionInfo, lastUpdated, errorState } = entry;
  return {
    name,
    state: clientState(entry),
    version: versionInfo,
    lastUpdated: dateOf(lastUpdated),
    error: errorState && {
      details: errorState.details.trimEnd(),
      version: errorState.versionInfo,
      at: dateOf(errorState.lastUpdateAttempt),
    },
  };
}

/** A server reports one field, a client the other; xdskit reports both. */
function clientState({ configStatus, clientStatus }: ViewEntry): ClientState {
  if (clientStatus === ClientResourceStatus.DOES_NOT_EXIST) return "missing";
  switch (configStatus) {
    case ConfigStatus.SYNCED:
      return "synced";
    case ConfigStatus.STALE:
      return "sent";
    case ConfigStatus.NOT_SENT:
      return "pending";
    case ConfigStatus.ERROR:
      return "rejected";
  }
  switch (clientStatus) {
    case ClientResourceStatus.ACKED:
      return "synced";
    case ClientResourceStatus.NACKED:
      return "rejected";
    case ClientResourceStatus.REQUESTED:
      return "pending";
  }
  // RECEIVED_ERROR and TIMEOUT come with a reason, as do states that are unknown here.
  return clientStatus === ClientResourceStatus.UNKNOWN ? "unknown" : "rejected";
}

const olderTypes = {
  listenerConfig: "envoy.config.listener.v3.Listener",
  clusterConfig: "envoy.config.cluster.v3.Cluster",
  routeConfig: "envoy.config.route.v3.RouteConfiguration",
  scopedRouteConfig: "envoy.config.route.v3.ScopedRouteConfiguration",
  endpointConfig: "envoy.config.endpoint.v3.ClusterLoadAssignment",
} as const;

/** The older field: a status for each type. */
function olderEntries({ genericXdsConfigs, xdsConfig }: ClientConfig): readonly ViewEntry[] {
  if (genericXdsConfigs.length > 0) return [];
  return xdsConfig.flatMap(({ status, clientStatus, perXdsConfig }) => {
    if (perXdsConfig.case === undefined) return [];
    const client = ["UNKNOWN", "REQUESTED", "ACKED", "NACKED", "RECEIVED_ERROR"] as const;
    return [
      {
        $typeName: "envoy.service.status.v3.ClientConfig.GenericXdsConfig",
        typeUrl: `${typeUrlPrefix}${olderTypes[perXdsConfig.case]}`,
        name: "",
        versionInfo: "",
        configStatus: status,
        clientStatus: ClientResourceStatus[client[clientStatus]],
        isStaticResource: false,
      },
    ];
  });
}

const inOrderOfConcern: readonly ClientState[] = [
  "unknown",
  "synced",
  "held-back",
  "missing",
  "sent",
  "pending",
  "stale",
  "rejected",
];

/** How urgent a state is, from 0. */
export function concernOf(state: ClientState): number {
  return inOrderOfConcern.indexOf(state);
}

/** The state of a client with these types, and why. */
export function standingOf(types: readonly TypeView[]): Pick<ClientView, "state" | "why"> {
  return nodeStanding(types, concernOf);
}

/** The most urgent state; synced if there is none. */
function worst(states: readonly ClientState[]): ClientState {
  return inOrderOfConcern.findLast((state) => states.includes(state)) ?? "synced";
}

function inOrder(a: TypeView, b: TypeView): number {
  const order = ({ typeUrl }: TypeView) => typeOf(typeUrl)?.deliveryOrder ?? Number.MAX_SAFE_INTEGER;
  return order(a) - order(b) || (a.typeUrl < b.typeUrl ? -1 : 1);
}

/** The short name of a type: `cluster`. */
export function typeName(typeUrl: string): string {
  return typeOf(typeUrl)?.name ?? typeUrl.replace(typeUrlPrefix, "");
}

function typeOf(typeUrl: string): ResourceType | undefined {
  return resourceTypes.byTypeUrl(typeUrl)?.type;
}

function onlyOne(versions: readonly string[]): string | undefined {
  const [first, ...others] = new Set(versions);
  return others.length === 0 && first !== "" ? first : undefined;
}

function newest(errors: readonly ErrorView[]): ErrorView | undefined {
  return [...errors].sort((a, b) => (b.at?.getTime() ?? 0) - (a.at?.getTime() ?? 0))[0];
}

function latest(dates: readonly Date[]): Date | undefined {
  return dates.length === 0 ? undefined : new Date(dates.reduce((last, date) => Math.max(last, date.getTime()), 0));
}

/** Clients that have nothing yet report a time long ago. */
function dateOf(time: { readonly seconds: bigint; readonly nanos: number } | undefined): Date | undefined {
  if (time === undefined || time.seconds <= 0n) return undefined;
  const date = new Date(Number(time.seconds) * 1000 + time.nanos / 1e6);
  return Number.isNaN(date.getTime()) ? undefined : date;
}
