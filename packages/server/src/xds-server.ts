import type { Registry, Resource, ResourceName, ResourceType, ResourceTypes } from "@xdskit/api";
import type { Node, ResourceErrorPolicy, Snapshot, TtlPolicy } from "@xdskit/protocol";
import type { Clock } from "./clock.js";
import type { Config } from "./config.js";
import type { EventLoopOptions } from "./event-loop/event-loop-stats.js";
import type { ServerEvent, ServerListener } from "./events.js";
import type { GroupOf, GroupSettings, OnReject } from "./groups.js";
import type { Keepalive } from "./keepalive.js";
import type { ConfigArrival } from "./ledger/arrival.js";
import type { NodeConfigFilter, NodeStates, NodesFilter } from "./ledger/ledger.js";
import type { NodeConfig, NodeStatus } from "./ledger/node-status.js";
import type { ServerLimits } from "./limits.js";
import type { LoadReport, LoadReportFilter } from "./load-reports/load-report.js";
import type { LoadReportSettings } from "./load-reports/load-report-settings.js";
import type { LoadTotals } from "./load-reports/load-totals.js";
import type { OrderingOptions } from "./node-orders.js";
import type { OnDemandOptions } from "./on-demand/options.js";
import type { PollTransport } from "./poll-transport.js";
import type { RestOptions } from "./rest-options.js";
import type { LayerName, Source } from "./source.js";
import type { ServerStats } from "./stats.js";
import type { ServerTls } from "./tls/server-tls.js";
import type { Transport } from "./transport.js";
import type { RolloutSettings } from "./views/rollout-settings.js";
import type { Rollout } from "./views/rollout-status.js";
import type { LiftableQuarantine } from "./views/views.js";

/** All of it may be left out. */
export interface ServerOptions {
  /**
   * Which nodes are served which layers: settings, or a function that names the group of a node. Default: every node gets every layer.
   * A node that no group matches is refused with PERMISSION_DENIED.
   */
  readonly groups?: readonly GroupSettings[] | GroupOf | undefined;
  /**
   * Which clients are told how long resources live, of groups that do not say so themselves; see `TtlPolicy`. Default `auto`: those
   * that say that they understand it, and Envoys from 1.17 on.
   */
  readonly ttl?: TtlPolicy | undefined;
  /**
   * The authorities of names of federation (`xdstp://authority/…`) that this server answers for. Names of others do not exist, and resources with
   * such names are refused. Default: any.
   */
  readonly authorities?: readonly string[] | undefined;
  /** Which clients are told why resources are not there (`resource_errors`): those that advertise it (the default), or `always` all of v3. */
  readonly resourceErrors?: ResourceErrorPolicy | undefined;
  /** What streams get that come after a client rejected something, in groups that do not say so themselves; see `OnReject`. Default `newest`. */
  readonly onReject?: OnReject | undefined;
  /** How changes go to the nodes of groups that do not say so themselves; see `RolloutSettings`. Default: to all at once. */
  readonly rollout?: RolloutSettings | "off" | undefined;
  /** See `ServerLimits` for each default. */
  readonly limits?: Partial<ServerLimits> | undefined;
  /** Who a client is that sends no node. Default: such a client is refused with INVALID_ARGUMENT. */
  readonly defaultNode?: Node | undefined;
  /** What clients are asked to report of their load (LRS), where their group does not say otherwise. See `LoadReportSettings` for each default. `false`: LRS answers UNIMPLEMENTED. */
  readonly loadReports?: Partial<LoadReportSettings> | false | undefined;
  /** Whether whoever reaches the port may ask what each client has (CSDS); `xdskit status` does. `false`: it answers UNIMPLEMENTED. Default true. */
  readonly clientStatus?: boolean | undefined;
  /** Whether services and messages are described (gRPC's server reflection), as `grpcurl` asks. `false`: it answers UNIMPLEMENTED. Default true. */
  readonly reflection?: boolean | undefined;
  /** See `RestOptions` for each default. */
  readonly rest?: Partial<RestOptions> | undefined;
  /** How changes are ordered for each client, make before break; see `OrderingOptions` for each default. `false`: they go out at once. */
  readonly ordering?: Partial<OrderingOptions> | false | undefined;
  /** See `Keepalive` for each default. */
  readonly keepalive?: Partial<Keepalive> | undefined;
  /** How the event loop is watched for what blocks it; see `EventLoopOptions` for each default. `false`: not at all. */
  readonly eventLoop?: Partial<EventLoopOptions> | false | undefined;
  /** The types of resources; default is the built-in table. Types of one's own get their gRPC services too. */
  readonly types?: ResourceTypes | undefined;
  /** The messages that are known inside `Any`s. Default: Envoy's; `createRegistry` adds descriptor sets of one's own. */
  readonly registry?: Registry | undefined;
  /**
   * Whether `config` refuses messages that break the validation rules of their protos, which clients would reject. Default true; it costs
   * some microseconds for each message.
   */
  readonly validate?: boolean | undefined;
  /** What heartbeats, rollouts and what is supplied on demand go by; for tests. Default: the system's. */
  readonly clock?: Clock | undefined;
  /**
   * In how many threads streams over gRPC are served: a number, or `auto` for as many as the machine has processors. Default 1: in this one. With more, `groups` must be
   * settings, and `types`, `clock` and `onDemand` cannot be given (docs/workers.md).
   */
  readonly workers?: number | "auto" | undefined;
  /** The certificates of gRPC and of REST; see `ServerTls`. They are read when the server begins to listen. Default: plaintext. */
  readonly tls?: ServerTls | undefined;
  /** Supplies what clients ask for by name and no layer has, when it is first asked for. Default: there is nothing but the layers. */
  readonly onDemand?: OnDemandOptions | undefined;
}

/** Where to listen: a transport each, `HOST:PORT` such as `127.0.0.1:18000`, `[::1]:0`, `0.0.0.0:18000`. Port 0 picks a free one. */
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
  /** What the program itself serves: the layer `default`, and others by name. */
  readonly config: Config;
  /** The types of resources that it knows. */
  readonly types: ResourceTypes;
  /**
   * Starts a source; resolves when its first configuration was applied, rejects as the source does. Until then, and if nothing was
   * served before, clients wait: they are never told a part of the configuration. Start sources that belong together at once, with
   * `Promise.all`. After one could not start they still wait, until a source of its name starts, or the program sets something by `config`
   * (`config.update({})` will do) and so goes on without it.
   */
  addSource(source: Source): Promise<void>;
  /**
   * Starts to listen by the transports that have an address; may be called again for more. Resolves to the addresses in use. Rejects with an
   * XdskitError if an address is wrong or taken, or a certificate cannot be used; those that were opened before stay open.
   */
  listen<Asked extends Addresses>(addresses: Asked): Promise<Listening<Asked>>;
  /** Listens by another transport, such as the in-memory one of tests; `address` is the transport's own. */
  listenOn(transport: Transport, address: string): Promise<string>;
  /** The same for a transport of polls. */
  pollOn(transport: PollTransport, address: string): Promise<string>;
  /**
   * Ends every stream with status OK (rule 15), and every held poll, closes the sources and stops listening. Resolves when all is closed, at the latest
   * after `timeoutMs` (default 4,000): then connections are cut. A second call waits for the first.
   */
  close(options?: { readonly timeoutMs?: number }): Promise<void>;
  /**
   * Calls a function at every event, or at those of the kinds that it wants, in the order in which they happen; returns what stops it. With workers, events that come
   * with every push cost least where nobody wants them.
   */
  on(listener: ServerListener, wants?: (kind: ServerEvent["kind"]) => boolean): () => void;
  /** Numbers about the server, cheap to read. */
  stats(): ServerStats;
  /**
   * What a group of nodes is to have now (`all` without groups), in the end where a rollout is under way; undefined where there is no such group, or nothing is
   * known yet.
   */
  snapshotOf(group: string): Snapshot | undefined;
  /**
   * How far nodes are with contents, whatever brought them: a layer, or a supplier to the groups that have this layer. What a group does not have, or no more,
   * concerns none of its nodes. Costs nothing until it is looked at.
   */
  contentArrival(contents: {
    readonly layer: LayerName;
    readonly upserted: readonly Resource[];
    readonly removed: readonly { readonly type: ResourceType; readonly name: ResourceName }[];
  }): ConfigArrival;
  /** Of each group the change that goes, or went last, to its nodes by steps, if there was one. Costs the streams of those groups. */
  rollouts(): readonly Rollout[];
  /** The contents of resources that some or all streams of a group are not given. */
  quarantines(): readonly LiftableQuarantine[];
  /**
   * Every node id that has a discovery stream, and how far its client is with what it is to have; a view of now, of which nothing is kept. Costs the streams times their
   * types, whatever they hold; names that clients list are counted once for all that list the same. Polls (REST) and unary calls are no streams.
   *
   * In the order in which their first streams were opened; with `after` or `most` in the order of their ids, so that each page begins behind the last id of the one before
   * and a node that is there all the time is told once. A page costs the streams that it tells of, and where it picks a state those that it passes over; of all others a look.
   */
  nodes(filter?: NodesFilter): readonly NodeStatus[];
  /** The same of one node; undefined while it has no stream. */
  node(id: string): NodeStatus | undefined;
  /** What one node is to have, was sent, acknowledged and rejected, resource by resource, without contents; undefined while it has no stream. */
  nodeConfig(id: string, filter?: NodeConfigFilter): NodeConfig | undefined;
  /** How many node ids are how far; cheap where most are synced. */
  nodeStates(): NodeStates;
  /**
   * What nodes last reported of their load (LRS), by node and cluster; costs all that it returns. Reports of a node are kept until a minute after its
   * last stream, within the limits.
   */
  loadReports(filter?: LoadReportFilter): readonly LoadReport[];
  /** All reports since the start summed up over nodes, for metrics. Costs what is kept: meant for once every few seconds. */
  loadTotals(): LoadTotals;
}
