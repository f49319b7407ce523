import type { Finding, Resource, ResourceName, ResourceType, ResourceTypes } from "@xdskit/api";
import type { FollowedNames, Snapshot } from "@xdskit/protocol";
import type { LayerName } from "../settings/group-settings.js";
import type { Config } from "./config.js";
import type { ServerEvent, ServerListener } from "./events.js";
import type { GroupPreview } from "./group-preview.js";
import type { LiveOptions } from "./kernel-options.js";
import type { ConfigArrival } from "./nodes/arrival.js";
import type { LoadReport, LoadReportFilter } from "./nodes/load-report.js";
import type { LoadTotals } from "./nodes/load-totals.js";
import type { NodeMoment } from "./nodes/node-history.js";
import type {
  EachNodeFilter,
  NodeConfig,
  NodeConfigFilter,
  NodeContents,
  NodeStates,
  NodeStatus,
  NodesFilter,
} from "./nodes/node-status.js";
import type { ClientStatusAsked, ClientStatusPage } from "./nodes/status-peers.js";
import type { PollTransport } from "./poll-transport.js";
import type { LiftableQuarantine } from "./rollouts/quarantined.js";
import type { RolloutSharing, SharedRollouts } from "./rollouts/rollout-sharing.js";
import type { Rollout } from "./rollouts/rollout-status.js";
import type { LayerUpdate, Source } from "./source.js";
import type { ServerStats } from "./stats.js";
import type { Transport } from "./transport.js";

/**
 * The addresses to listen on, one for each transport: `HOST:PORT`, such as `127.0.0.1:18000`, `[::1]:0`,
 * `0.0.0.0:18000`, where port 0 picks a free one; or a Unix socket, `unix:/run/xds.sock`, which its owner alone may
 * use, or those whom `unix:/run/xds.sock?mode=660` lets in.
 */
export interface Addresses {
  /** Discovery over gRPC. */
  readonly grpc?: string | undefined;
  /** REST-JSON: `POST /v3/discovery:clusters` … */
  readonly rest?: string | undefined;
}

/** The addresses in use. */
export type Listening<Asked extends Addresses> = { readonly [Key in keyof Asked]: Asked[Key] };

/** A management server. */
export interface XdsServer {
  /** The program's own layers: the layer `default`, and others by name. */
  readonly config: Config;
  /** The types of resources that it knows. */
  readonly types: ResourceTypes;
  /** The option of that name now. */
  readonly referencesExcept: ReadonlySet<string>;
  /**
   * Starts a source. Resolves when its first configuration was applied, and rejects as the source does. Until then,
   * clients that were served nothing yet wait: they never get a part of the configuration. Start sources that belong
   * together at once, with `Promise.all`. If one could not start, clients go on waiting until a source of its name
   * starts, or the program sets something with `config` (`config.update({})` will do).
   *
   * While another source of its name serves, that one stays in its place until this one has started. A refusal of this
   * one is reported like any other, until it is over, or the source could not start or has ended.
   */
  addSource(source: Source): Promise<void>;
  /**
   * Replaces options of the running server; options that are left out stay. Throws an XdskitError, and changes nothing,
   * if one is wrong or cannot change.
   *
   * - `groups`: nodes that are in another group now, or whose group has other layers, are brought there as by any
   *   change, make before break. Streams of nodes that no group matches end with PERMISSION_DENIED. TTLs, errors and
   *   load reports of a group concern streams that open from now on.
   * - `rollout`, `onReject`: from the next change on. A rollout in progress goes on as it began.
   * - `ordering`: waits that have begun end as they would have.
   * - `limits`: those of requests per second are for new streams. Limits of connections, partial requests and answers
   *   about clients cannot change (`fixedLimits`).
   *
   * Groups that a function names cannot change.
   */
  reconfigure(options: LiveOptions): void;
  /**
   * The findings for which a change of layers would be refused now; empty: it would be applied. Changes nothing, emits
   * nothing, and costs the change.
   */
  checkChange(updates: readonly LayerUpdate[]): readonly Finding[];
  /**
   * Starts to listen with the transports that have an address; may be called again for more. Resolves to the addresses
   * in use. Rejects with an XdskitError if an address is wrong or taken, or a certificate cannot be used; addresses
   * opened before stay open.
   */
  listen<Asked extends Addresses>(addresses: Asked): Promise<Listening<Asked>>;
  /** Open gRPC connections of `listen` whose clients were not asked to go. */
  connections(): number;
  /**
   * Asks this many of those clients, chosen at random, to reconnect, to another server if there is one. Their streams
   * end with OK after `keepalive.maxAgeGraceMs`. Returns how many were asked.
   */
  askToGo(count: number): number;
  /** Listens by another transport, such as the in-memory one of tests; `address` is the transport's own. */
  listenOn(transport: Transport, address: string): Promise<string>;
  /** The same for a transport of polls. */
  pollOn(transport: PollTransport, address: string): Promise<string>;
  /**
   * Ends every stream with status OK (rule 15) and every parked poll, closes the sources and stops listening. Resolves
   * when all is closed, at the latest after `timeoutMs` (default 4,000), when connections are cut. A second call waits
   * for the first.
   */
  close(options?: { readonly timeoutMs?: number }): Promise<void>;
  /**
   * Calls a function at every event, or at those of the kinds that it wants, in order; returns a function that stops
   * it. Events that come with every push cost least if no listener wants them.
   */
  on(listener: ServerListener, wants?: (kind: ServerEvent["kind"]) => boolean): () => void;
  /** Numbers about the server, cheap to read. */
  stats(): ServerStats;
  /**
   * The target of a group of nodes (`all` without groups); during a rollout, the target at its end. Undefined if there
   * is no such group, or nothing is known yet.
   */
  snapshotOf(group: string): Snapshot | undefined;
  /** That first, and the parts of it that some nodes are told instead: without secrets, or as Envoys. */
  snapshotsOf(group: string): readonly Snapshot[];
  /** The content of a layer; undefined for a layer that never had content, or that was dropped. */
  layerSnapshot(layer: LayerName): Snapshot | undefined;
  /**
   * The effect of a change of layers on each group: only groups that it changes are listed. Nothing is changed, and
   * references are not judged: `checkChange` does that. Throws an XdskitError if a layer would have a name twice.
   */
  preview(updates: readonly LayerUpdate[]): readonly GroupPreview[];
  /**
   * The current references in a group, and the dangling names: the index by which changes are judged. It costs memory
   * for each reference from the first call on, and there is one for all groups with the same layers. Undefined if there
   * is no such group, or nothing is known yet.
   */
  danglingNames(group: string): FollowedNames | undefined;
  /**
   * How far nodes are with contents, whatever brought them: a layer, or a supplier to the groups with this layer.
   * Contents that a group does not have concern none of its nodes. Costs nothing until it is looked at.
   */
  contentArrival(contents: {
    readonly layer: LayerName;
    readonly upserted: readonly Resource[];
    readonly removed: readonly { readonly type: ResourceType; readonly name: ResourceName }[];
    /** The layer had them, and has others instead now: a client that uses those has these too. Default: false. */
    readonly isReplaced?: boolean | undefined;
  }): ConfigArrival;
  /** The current or last rollout of each group. Costs the streams of those groups. */
  rollouts(): readonly Rollout[];
  /**
   * Makes the rollouts of all groups one with those of other servers of a store, which carry out the same
   * configuration: each server reports the answers of its nodes, and one of them leads. The store keeps the decisions,
   * which outlive this server. Call it before the server gets its first configuration, or it rejects with
   * XDSKIT_SERVER_OPTION. `Rollout.promote` and the like then lead the rollout for all, soon. While the store is away,
   * changes are held back from all nodes that the last known rollout has not reached.
   */
  shareRollouts(sharing: RolloutSharing): Promise<SharedRollouts>;
  /** The contents that are held back from some or all streams of a group. */
  quarantines(): readonly LiftableQuarantine[];
  /**
   * Every node id with a discovery stream, and how far its client is from its target, as of now. Nothing is kept for
   * it. Costs the streams times their types; equal lists of names are counted once. Polls (REST) and unary calls are
   * not streams.
   *
   * The nodes come in the order of their ids: in pages with `after` and `most`, each after the last id of the one
   * before, a node that stays is listed once. A page costs the streams it lists, those that it passes over for a state,
   * and a look at each other one.
   */
  nodes(filter?: NodesFilter): readonly NodeStatus[];
  /**
   * The same, each node as of the moment when it is read: for programs that read a large fleet in several turns of the
   * event loop, and so select a state themselves. A node that comes meanwhile is not among them. Throws a mistake in
   * the filter, and nothing later.
   */
  eachNode(filter?: EachNodeFilter): Iterable<NodeStatus>;
  /** The same of one node; undefined while it has no stream. */
  node(id: string): NodeStatus | undefined;
  /** A page of what its clients have (CSDS), for another server of the same store. Rejects with a reason for people. */
  clientStatusPage(asked: ClientStatusAsked): Promise<ClientStatusPage>;
  /**
   * The target of one node, and what it was sent, acknowledged and rejected, resource by resource, without contents;
   * undefined while it has no stream.
   */
  nodeConfig(id: string, filter?: NodeConfigFilter): NodeConfig | undefined;
  /**
   * The contents of one resource of a node, which may hold secrets; of several streams, those of the one opened last
   * that asks for it. `type` as in `NodeConfigFilter`. Undefined while the node has no stream, or no stream that knows
   * the resource. Costs the resources of this type that the node has.
   */
  nodeContents(id: string, type: string, name: string): NodeContents | undefined;
  /**
   * What happened between a node and the server last, the newest first: at most 40 moments; also of the last 1,000
   * nodes that have gone. With `workers`, without responses and acknowledgements.
   */
  nodeHistory(id: string): readonly NodeMoment[];
  /**
   * The moment whose newest configuration the client uses that is the furthest behind, as far as its open stream tells;
   * now, if none is behind. Undefined while there is no stream. Costs a look at each stream.
   */
  oldestInUse(): Date | undefined;
  /** How many node ids are how far; cheap where most are synced. */
  nodeStates(): NodeStates;
  /**
   * The last load reports (LRS), by node and cluster; costs all that it returns. Reports of a node are kept until a
   * minute after its last stream, within the limits.
   */
  loadReports(filter?: LoadReportFilter): readonly LoadReport[];
  /** All reports since the start summed over nodes, for metrics. Costs what is kept: call it once every few seconds. */
  loadTotals(): LoadTotals;
}
