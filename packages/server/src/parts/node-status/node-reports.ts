import type { Clock, ResourceTypes } from "@xdskit/api";
import {
  type EachNodeFilter,
  type NodeConfig,
  type NodeConfigFilter,
  type NodeContents,
  type NodeState,
  type NodeStates,
  type NodeStatus,
  type NodesFilter,
  nodeStanding,
  noNodes,
  type ResourceReport,
  type StreamStatus,
  worst,
} from "../../contracts/nodes/node-status.js";
import {
  isOpen,
  newestOf,
  type OpenStream,
  type ReportedStream,
  streamsByNode,
} from "../../contracts/nodes/reported-stream.js";
import { type Moment, momentOf } from "./moment.js";
import { resourceDetails } from "./resource-details.js";
import { standingOf, typeReport } from "./type-report.js";

/**
 * The state of nodes: a view of the open streams. Nothing is kept for it; each answer is made from the state of the
 * streams' machines.
 */
export interface NodeReports {
  nodes(about?: NodesFilter): readonly NodeStatus[];
  eachNode(filter?: EachNodeFilter): Iterable<NodeStatus>;
  node(id: string): NodeStatus | undefined;
  nodeConfig(id: string, filter?: NodeConfigFilter): NodeConfig | undefined;
  nodeContents(id: string, type: string, name: string): NodeContents | undefined;
  oldestInUse(): Date | undefined;
  nodeStates(): NodeStates;
}

/** `streams` are those that are open, in the order in which they were opened. */
export function createNodeReports(streams: Iterable<ReportedStream>, clock: Clock, types: ResourceTypes): NodeReports {
  function ofNode(id: string): readonly OpenStream[] {
    const found: OpenStream[] = [];
    for (const stream of streams) if (isOpen(stream) && stream.opened.node.id === id) found.push(stream);
    return found;
  }

  function* eachNode({ group, after }: EachNodeFilter = {}): Iterable<NodeStatus> {
    const all = streamsByNode(streams);
    const ids = after === undefined ? [...all.keys()] : [...all.keys()].filter((id) => id > after);
    for (const id of ids.sort()) {
      // Some may have ended since; a node that came back has others.
      const known = all.get(id)?.filter(isOpen) ?? [];
      const open = known.length > 0 ? known : ofNode(id);
      if (open.length === 0 || (group !== undefined && newestOf(open).group !== group)) continue;
      yield nodeStatus(id, open, momentOf(clock));
    }
  }

  return {
    eachNode,
    nodes({ state, most = Number.POSITIVE_INFINITY, ...filter }: NodesFilter = {}): readonly NodeStatus[] {
      const found: NodeStatus[] = [];
      if (most <= 0) return found;
      for (const node of eachNode(filter)) {
        if (state !== undefined && node.state !== state) continue;
        found.push(node);
        if (found.length >= most) break;
      }
      return found;
    },
    node(id: string): NodeStatus | undefined {
      const open = ofNode(id);
      return open.length === 0 ? undefined : nodeStatus(id, open, momentOf(clock));
    },
    nodeConfig(id: string, filter: NodeConfigFilter = {}): NodeConfig | undefined {
      const open = ofNode(id);
      const last = open.at(-1);
      if (last === undefined) return undefined;
      const type = filter.type === undefined ? undefined : (types.find(filter.type)?.typeUrl ?? filter.type);
      const { most = Number.POSITIVE_INFINITY } = filter;
      const resources: ResourceReport[] = [];
      let isCut = false;
      for (const stream of open) {
        for (const report of resourceReports(stream, type)) {
          isCut = resources.length >= most;
          if (isCut) break;
          resources.push(report);
        }
        if (isCut) break;
      }
      return { id, node: last.opened.node, group: last.opened.group, resources, isCut };
    },
    nodeContents(id: string, type: string, name: string): NodeContents | undefined {
      const wanted = types.find(type);
      if (wanted === undefined) return undefined;
      for (const stream of [...ofNode(id)].reverse()) {
        const status = stream.status().find((one) => one.type === wanted);
        if (status === undefined) continue;
        for (const detail of resourceDetails(status, stream)) {
          if (detail.name !== name) continue;
          const { state, wanted, newest, used, rejected } = detail;
          return { state, wanted, newest, used, rejected };
        }
      }
      return undefined;
    },
    oldestInUse(): Date | undefined {
      const moment = momentOf(clock);
      let oldest: number | undefined;
      for (const stream of streams) {
        if (!isOpen(stream)) continue;
        const since = stream.isInSync ? moment.now : stream.outOfSyncSince;
        oldest = Math.min(oldest ?? since, since);
      }
      return oldest === undefined ? undefined : moment.date(oldest);
    },
    nodeStates(): NodeStates {
      const moment = momentOf(clock);
      const counts = noNodes();
      for (const open of streamsByNode(streams).values())
        counts[worst(open.map((stream) => stateOf(stream, moment)))] += 1;
      return counts;
    },
  };
}

function nodeStatus(id: string, open: readonly OpenStream[], moment: Moment): NodeStatus {
  const { node, group } = newestOf(open);
  const streams = open.map((stream) => streamStatus(stream, moment));
  return { id, node, group, streams, ...nodeStanding(streams.flatMap(({ types }) => types)) };
}

function streamStatus(stream: OpenStream, moment: Moment): StreamStatus {
  const statuses = stream.status();
  const types = statuses.map((status) => typeReport(status, stream, statuses, moment));
  return { stream: stream.opened, openedAt: new Date(stream.openedAt), identity: stream.identity, types };
}

function stateOf(stream: OpenStream, moment: Moment): NodeState {
  if (stream.isInSync && stream.snapshot === stream.newest) return "synced";
  return worst(stream.status().map((status) => standingOf(status, stream, moment).state));
}

function* resourceReports(stream: OpenStream, typeUrl: string | undefined): Iterable<ResourceReport> {
  for (const status of stream.status()) {
    const { type } = status;
    if (typeUrl !== undefined && type.typeUrl !== typeUrl) continue;
    for (const { name, wanted, sent, used, rejected, state, isBlamed } of resourceDetails(status, stream)) {
      yield {
        type: type.name,
        typeUrl: type.typeUrl,
        name,
        version: wanted?.version,
        sent: sent?.version,
        acknowledged: used?.version,
        rejected: rejected?.version,
        state,
        isBlamed,
        stream: stream.opened.id,
      };
    }
  }
}
