import { inTurns, redactErrorText, type Steps, type Where } from "@xdskit/api";
import {
  type LoadReport,
  type NodeConfig,
  type NodeMoment,
  type ResourceReport,
  type ResourceState,
  resourceStates,
  type XdsServer,
} from "@xdskit/server";
import type { ShowResource } from "../answers/resource-json.js";
import type { AdminApiOptions, VersionKeeper } from "../contract/admin-options.js";
import type {
  NodeContentsJson,
  NodeListQuery,
  NodeLoad,
  NodeResources,
  NodeResourcesQuery,
  NodeTimeline,
  ServedFleet,
} from "../contract/fleet.js";
import { maxInList, usualPage } from "../contract/limits.js";
import { answersFromRows } from "./answers-from-rows.js";
import { fieldNamedIn, fieldText } from "./named-field.js";
import { nodeJson } from "./node-json.js";
import { rejectionJson, rowOf } from "./row.js";
import { lookAt, RowCache, type RowsAsOf } from "./row-cache.js";

/** The most resources that are looked at: any number of streams may have the id of one node. */
const maxLookedAt = 50_000;

export interface LocalFleetOptions extends Pick<AdminApiOptions, "server" | "whereIs" | "whereField"> {
  readonly show: ShowResource;
  readonly versions: VersionKeeper;
  /** The name of the server among others. */
  readonly replica: string;
}

/** The nodes with streams to one server. */
export interface LocalFleet extends ServedFleet {
  /** All of them. */
  all(): Promise<RowsAsOf>;
}

/** Answers from the streams of one server. */
export function createLocalFleet({
  server,
  show,
  versions,
  replica,
  whereIs,
  whereField,
}: LocalFleetOptions): LocalFleet {
  const cache = new RowCache(() => lookAt(server, replica));
  const all = () => cache.rows();
  return {
    ...answersFromRows(all, server),
    all,
    nodes: (query) => inTurns(nodesPage(server, replica, query)),
    async node(id, { type, all }) {
      const node = server.node(id);
      const config = server.nodeConfig(id, { type, most: maxLookedAt });
      if (node === undefined || config === undefined) return undefined;
      const listed = config.resources.filter(({ state }) => all || state !== "synced").slice(0, usualPage);
      return {
        ...nodeJson(node, replica),
        resourceStates: countStates(config),
        isCut: config.isCut,
        resources: listed,
      };
    },
    async row(id) {
      const node = server.node(id);
      return node && rowOf(node, replica, Date.now());
    },
    async resources(id, query) {
      const config = server.nodeConfig(id, { type: query.type, most: maxLookedAt });
      return config && resourcesPage(config, query);
    },
    contents: async (id, type, name) => contentsOf({ server, show, whereIs, whereField }, id, type, name),
    async timeline(id): Promise<NodeTimeline | undefined> {
      const moments = server.nodeHistory(id);
      const isConnected = server.node(id) !== undefined;
      return moments.length === 0 && !isConnected
        ? undefined
        : { isConnected, moments: moments.map((one) => momentJson(one, versions)) };
    },
    loads: async (id) => server.loadReports({ node: id }).slice(0, maxInList).map(loadJson),
  };
}

function* nodesPage(
  server: Pick<XdsServer, "eachNode">,
  replica: string,
  { state, limit, ...query }: NodeListQuery,
): Steps<Awaited<ReturnType<ServedFleet["nodes"]>>> {
  const nodes: object[] = [];
  let next: string | undefined;
  for (const node of server.eachNode(query)) {
    yield;
    if (state !== undefined && node.state !== state) continue;
    if (nodes.length === limit) return { nodes, next };
    nodes.push(nodeJson(node, replica));
    next = node.id;
  }
  return { nodes };
}

function countStates({ resources }: NodeConfig): Partial<Record<ResourceState, number>> {
  const counts: Partial<Record<ResourceState, number>> = {};
  for (const { state } of resources) counts[state] = (counts[state] ?? 0) + 1;
  return counts;
}

function resourcesPage({ resources, isCut }: NodeConfig, query: NodeResourcesQuery): NodeResources {
  const { state, q = "", offset, limit } = query;
  const wanted = q.toLowerCase();
  const found = resources.filter(
    (one) => (state === undefined || state.includes(one.state)) && one.name.toLowerCase().includes(wanted),
  );
  const rows = worstFirst(found).slice(offset, offset + limit);
  return { total: found.length, isCut, resources: rows.map(resourceRow) };
}

/** Resources from the worst state on, those that the client blames before others; the rest stay as they are. */
export function worstFirst<T extends Pick<ResourceReport, "state" | "isBlamed">>(
  resources: readonly T[],
): readonly T[] {
  const rank = ({ state, isBlamed }: T) => 2 * resourceStates.indexOf(state) - Number(isBlamed);
  return resources.toSorted((a, b) => rank(a) - rank(b));
}

type ResourceRow = NodeResources["resources"][number];

function resourceRow({ type, name, state, version, acknowledged, isBlamed }: ResourceReport): ResourceRow {
  return { type, name, state, version: version ?? null, acknowledged: acknowledged ?? null, isBlamed };
}

async function contentsOf(
  { server, show, whereIs, whereField }: Omit<LocalFleetOptions, "replica" | "versions">,
  id: string,
  typeName: string,
  name: string,
): Promise<NodeContentsJson | undefined> {
  const type = server.types.find(typeName);
  const node = server.node(id);
  if (type === undefined || node === undefined) return undefined;
  const found = server.nodeContents(id, type.typeUrl, name);
  if (found === undefined) return undefined;
  const { state, wanted, newest, used, rejected } = found;
  await show.prepare([wanted, newest, used, rejected]);
  const shown = (resource: typeof wanted) =>
    resource === undefined ? null : (show(resource) as NodeContentsJson["wanted"]);
  const types = node.streams.flatMap((stream) => stream.types);
  const rejectionOfType = types.find((one) => one.typeUrl === type.typeUrl && one.rejected !== undefined)?.rejected;
  // A rejection is about the resources that it blames, and about no others of the type.
  const rejection =
    state === "rejected" || rejectionOfType?.blamed?.includes(name) === true ? rejectionOfType : undefined;
  const where = whereIs?.(node.group, { type: type.typeUrl, key: wanted?.key ?? name });
  /** The field that the client names in its words, as long as the written content is the rejected one. */
  const causeOf = (): NodeContentsJson["cause"] => {
    const steps = state === "rejected" && rejection !== undefined ? fieldNamedIn(rejection.message) : undefined;
    if (steps === undefined) return null;
    const isWritten = where !== undefined && wanted !== undefined && rejected?.version === wanted.version;
    return { field: fieldText(steps), where: isWritten ? whereJson(whereField?.(where, wanted, steps)) : null };
  };
  return {
    type: type.name,
    name,
    state,
    version: wanted?.version ?? null,
    acknowledged: used?.version ?? null,
    isBlamed: rejection?.blamed?.includes(name) === true,
    wanted: shown(wanted),
    newest: shown(newest),
    running: shown(used),
    rejected: shown(rejected),
    rejection: rejection === undefined ? null : rejectionJson(rejection),
    where: whereJson(where),
    cause: causeOf(),
  };
}

function whereJson(where: Where | undefined): NodeContentsJson["where"] {
  return where?.file === undefined ? null : { file: where.file, line: where.line, column: where.column };
}

function momentJson(moment: NodeMoment, versions: VersionKeeper): NodeTimeline["moments"][number] {
  const { at, ...rest } = moment;
  const revision = "version" in rest ? versions.revisionOf(rest.type, rest.version, at) : undefined;
  const words = "message" in rest ? { message: redactErrorText(rest.message) } : {};
  return { ...rest, ...words, revision, at: new Date(at).toISOString() };
}

function loadJson({ cluster, receivedAt, localities, ...report }: LoadReport): NodeLoad {
  const sum = (of: (locality: LoadReport["localities"][number]) => number) =>
    localities.reduce((total, one) => total + of(one), 0);
  return {
    cluster,
    at: new Date(receivedAt).toISOString(),
    successful: sum(({ successful }) => successful),
    errors: sum(({ errors }) => errors),
    inProgress: sum(({ inProgress }) => inProgress),
    dropped: report.dropped,
  };
}
