import type { Clock, Registry, ResourceTypes, TypeUrl } from "@xdskit/api";
import type { Keepalive } from "@xdskit/grpc-server";
import type { Node, ResourceErrorPolicy, TtlPolicy } from "@xdskit/protocol";
import type { IdentityRule } from "../identity/identity-rule.js";
import type { TokenReview } from "../identity/tokens/reviewed-tokens.js";
import type { GroupOf, GroupSettings, OnReject } from "../settings/group-settings.js";
import type { ServerLimits } from "../settings/limits.js";
import type { LoadReportSettings } from "../settings/load-report-settings.js";
import type { OnDemandOptions } from "../settings/on-demand-options.js";
import type { OrderingOptions } from "../settings/ordering-options.js";
import type { RestOptions } from "../settings/rest-options.js";
import type { RolloutSettings } from "../settings/rollout-settings.js";
import type { ServerTls } from "../tls/server-tls.js";
import type { NodeRevision } from "./nodes/node-status.js";
import type { StatusPeer } from "./nodes/status-peers.js";
import type { LetsIn } from "./transport.js";

/** Whether changes that break references are refused. */
export type References = "strict" | "refuse" | "warn";

/** All of it may be left out. */
export interface KernelOptions {
  /**
   * Who may be which node, and what it is told: the first rule that holds wins, and a caller without one is refused
   * with PERMISSION_DENIED. Default: no rules, and whoever reaches a port may be every node.
   */
  readonly identities?: readonly IdentityRule[] | undefined;
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
   * v3 type URLs of the types whose names stand for the variant of a client's place: a plain name is read as if it came
   * with the node's locality as dynamic parameters, `xds.node.locality.region`, `.zone` and `.sub_zone`. Default: none.
   */
  readonly localityTypes?: readonly TypeUrl[] | undefined;
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
  /** The name of a token that a condition `token` of `identities` asks for; undefined: it is not known. */
  readonly tokenName?: ((token: string) => string | undefined) | undefined;
  /** Says whether a token is good, for conditions `jwt` of `identities` with `review`. Default: nobody does. */
  readonly reviewToken?: TokenReview | undefined;
  /**
   * Whether a caller of CSDS may hear of all clients. `undefined`: as without this function, where everybody may whom
   * no rule of `identities` restricts. `false`: it hears only of streams with its own proof, and nothing if no rule
   * restricts it (PERMISSION_DENIED). `true` lets in also whom no rule knows. A promise while a token is verified.
   */
  readonly readsClientStatus?: LetsIn | undefined;
  /**
   * By id, the newest revision of each layer of some nodes, and whether they run it: client status (CSDS) tells it
   * `xdskit status`. Default: nothing is known.
   */
  readonly nodeRevisions?:
    | ((ids: readonly string[]) => Promise<ReadonlyMap<string, readonly NodeRevision[]>>)
    | undefined;
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
  /** Whether the event loop is watched for what blocks it. Default true. */
  readonly eventLoop?: boolean | undefined;
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
  KernelOptions,
  "identities" | "groups" | "references" | "referencesExcept" | "limits" | "ordering" | "rollout" | "onReject"
>;
