import type { Clock, Finding, Registry, Resource, ResourceName, ResourceType, ResourceTypes } from "@xdskit/api";
import type { Keepalive } from "@xdskit/grpc-server";
import type { FollowedNames, Node, ResourceErrorPolicy, Snapshot, TtlPolicy } from "@xdskit/protocol";
import type { EventLoopOptions } from "../event-loop/event-loop-stats.js";
import type { GroupOf, GroupSettings, LayerName, OnReject } from "../settings/group-settings.js";
import type { ServerLimits } from "../settings/limits.js";
import type { LoadReportSettings } from "../settings/load-report-settings.js";
import type { OnDemandOptions } from "../settings/on-demand-options.js";
import type { OrderingOptions } from "../settings/ordering-options.js";
import type { RestOptions } from "../settings/rest-options.js";
import type { RolloutSettings } from "../settings/rollout-settings.js";
import type { ServerTls } from "../tls/server-tls.js";
import type { Config } from "./config.js";
import type { ServerEvent, ServerListener } from "./events.js";
import type { GroupPreview } from "./group-preview.js";
import type { ConfigArrival } from "./nodes/arrival.js";
import type { LoadReport, LoadReportFilter } from "./nodes/load-report.js";
import type { LoadTotals } from "./nodes/load-totals.js";
import type { NodeMoment } from "./nodes/node-history.js";
import type {
  NodeConfig,
  NodeConfigFilter,
  NodeContents,
  NodeStates,
  NodeStatus,
  NodesFilter,
} from "./nodes/node-status.js";
import type { ClientStatusAsked, ClientStatusPage, StatusPeer } from "./nodes/status-peers.js";
import type { PollTransport } from "./poll-transport.js";
import type { LiftableQuarantine } from "./rollouts/quarantined.js";
import type { RolloutSharing, SharedRollouts } from "./rollouts/rollout-sharing.js";
import type { Rollout } from "./rollouts/rollout-status.js";
import type { LayerUpdate, Source } from "./source.js";
import type { ServerStats } from "./stats.js";
import type { Transport } from "./transport.js";

/** Whether changes that break references are refused. */
export type References = "strict" | "refuse" | "warn";

/** All of it may be left out. */
export interface ServerOptions {
  /**
   * The layers of each node: settings of groups, or a function that names the group of a node. Default: every node gets
   * every layer. A node that no group matches is refused with PERMISSION_DENIED.
   */
  readonly groups?: readonly GroupSettings[] | GroupOf | undefined;
  /**
   * The clients that are told TTLs, in groups without this setting; see `TtlPolicy`. Default `auto`: clients that say
   * that they understand TTLs, and Envoys from 1.17 on.
   */
  readonly ttl?: TtlPolicy | undefined;
  /**
   * The authorities of federation names (`xdstp://authority/…`) that this server answers for. Names of others do not
   * exist, and resources with such names are refused. Default: any.
   */
  readonly authorities?: readonly string[] | undefined;
  /**
   * Whether a change is refused if it breaks references that were complete: if it removes a cluster that a route names,
   * a route configuration that a listener names, or a secret. `refuse`: it is refused as a whole
   * (XDSKIT_REFERENCE_BROKEN), and a source is asked to try again when another change makes it complete. Resources that
   * never existed, load assignments, and resources supplied on demand do not count. `strict`: also a change with a name
   * that nobody has is refused (XDSKIT_DANGLING_REFERENCE), once nodes are told something. `warn`, the default: it is
   * applied, and references are not judged.
   */
  readonly references?: References | undefined;
  /**
   * With `references: "strict"`, the names that clients have from elsewhere, such as static clusters of an Envoy's
   * bootstrap. Default: none.
   */
  readonly referencesExcept?: readonly string[] | undefined;
  /**
   * Whether a change is refused if it puts a listener at an address where its group has another listener: an Envoy
   * takes only one of them. `refuse`: it is refused as a whole (XDSKIT_CLIENTS_REFUSE), as with `references`. Unchanged
   * listeners, xdstp names, and names that end with the address, as gRPC's servers use them, are not judged. `warn`,
   * the default: it is applied, and addresses are not judged.
   */
  readonly addresses?: "refuse" | "warn" | undefined;
  /**
   * The clients that are told why resources do not exist (`resource_errors`): those that advertise it (the default), or
   * `always` all v3 clients.
   */
  readonly resourceErrors?: ResourceErrorPolicy | undefined;
  /**
   * The content for later streams after a client rejected a content, in groups without this setting; see `OnReject`.
   * Default `newest`.
   */
  readonly onReject?: OnReject | undefined;
  /** How changes go to the nodes, in groups without this setting; see `RolloutSettings`. Default: to all at once. */
  readonly rollout?: RolloutSettings | "off" | undefined;
  /** See `ServerLimits` for each default. */
  readonly limits?: Partial<ServerLimits> | undefined;
  /** The node of a client that sends none. Default: such a client is refused with INVALID_ARGUMENT. */
  readonly defaultNode?: Node | undefined;
  /**
   * The load that clients are asked to report (LRS), unless their group says otherwise. See `LoadReportSettings` for
   * each default. `false`: LRS answers UNIMPLEMENTED.
   */
  readonly loadReports?: Partial<LoadReportSettings> | false | undefined;
  /**
   * Whether anyone who reaches the port may ask what each client has (CSDS), as `xdskit status` does. `false`: CSDS
   * answers UNIMPLEMENTED. Default true.
   */
  readonly clientStatus?: boolean | undefined;
  /** The other servers of the same store: client status (CSDS) speaks for their clients, too. Default: none. */
  readonly statusPeers?: (() => readonly StatusPeer[]) | undefined;
  /**
   * Whether services and messages are described (gRPC server reflection), as `grpcurl` needs. `false`: it answers
   * UNIMPLEMENTED. Default true.
   */
  readonly reflection?: boolean | undefined;
  /** See `RestOptions` for each default. */
  readonly rest?: Partial<RestOptions> | undefined;
  /**
   * How changes are ordered for each client, make before break; see `OrderingOptions` for each default. `false`: they
   * go out at once.
   */
  readonly ordering?: Partial<OrderingOptions> | false | undefined;
  /** See `Keepalive` for each default. */
  readonly keepalive?: Partial<Keepalive> | undefined;
  /** How the event loop is watched for what blocks it; see `EventLoopOptions` for each default. `false`: not at all. */
  readonly eventLoop?: Partial<EventLoopOptions> | false | undefined;
  /** The types of resources; default is the built-in table. Types of one's own get their gRPC services too. */
  readonly types?: ResourceTypes | undefined;
  /**
   * The messages that are known inside `Any`s. Default: Envoy's; `createRegistry` adds descriptor sets of one's own.
   */
  readonly registry?: Registry | undefined;
  /**
   * Whether `config` refuses messages that break the validation rules of their protos, which clients would reject.
   * Default true; it costs some microseconds for each message.
   */
  readonly validate?: boolean | undefined;
  /** The clock of heartbeats, rollouts and supply on demand; for tests. Default: the system's. */
  readonly clock?: Clock | undefined;
  /**
   * The certificates of gRPC and of REST; see `ServerTls`. They are read when the server begins to listen. Default:
   * plaintext.
   */
  readonly tls?: ServerTls | undefined;
  /**
   * Supplies resources that clients ask for by name and no layer has, when they are first asked for. Default: only
   * layers.
   */
  readonly onDemand?: OnDemandOptions | undefined;
}

/** The options that a server can change while it runs; each as in `ServerOptions`. */
export type LiveOptions = Pick<
  ServerOptions,
  "groups" | "references" | "referencesExcept" | "limits" | "ordering" | "rollout" | "onReject"
>;

/**
 * The addresses to listen on, one for each transport: `HOST:PORT`, such as `127.0.0.1:18000`, `[::1]:0`,
 * `0.0.0.0:18000`. Port 0 picks a free one.
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
   * Ends every stream with status OK (rule 15) and every held poll, closes the sources and stops listening. Resolves
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
  /** The content of a layer; undefined for a layer that never had content, or that was dropped. */
  layerSnapshot(layer: LayerName): Snapshot | undefined;
  /**
   * The effect of a change of layers on each group: only groups that it changes are listed. Nothing is changed, and
   * references are not judged: `checkChange` does that. Throws an XdskitError if a layer would have a name twice.
   */
  preview(updates: readonly LayerUpdate[]): readonly GroupPreview[];
  /**
   * The current references in a group, and the dangling names: the index by which changes are judged. It costs memory
   * for each reference, and there is one for all groups with the same layers. Undefined with `references: "warn"`, if
   * there is no such group, or nothing is known yet.
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
   * The nodes come in the order in which their first streams were opened; with `after` or `most`, in the order of
   * their ids, so that each page begins after the last id of the one before and a node that stays is listed once. A
   * page costs the streams it lists, those that it passes over for a state, and a look at each other one.
   */
  nodes(filter?: NodesFilter): readonly NodeStatus[];
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
