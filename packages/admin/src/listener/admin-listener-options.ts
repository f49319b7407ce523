import type { Finding, Registry } from "@xdskit/api";
import type { HandshakeFailed } from "@xdskit/grpc-server";
import type { CertificatesListener, ServerTls, SharedRollouts, StoreAway } from "@xdskit/server";
import type { Access, AccessSettings } from "../access/access.js";
import type { AuditLog } from "../access/audit-log.js";
import type { AdminApiOptions, ApiLayer, Trouble } from "../contract/admin-options.js";
import type { PeerServer } from "../contract/peers.js";
import type { ClientPorts, Readiness } from "../contract/readiness.js";
import type { AnySourceStatus } from "../contract/source-status.js";
import type { LogFormat, LogLevel } from "../log/log-options.js";
import type { StoreNumbers } from "../metrics/store-numbers.js";

/** What an admin listener shows of a server, and who may use it. Each part may be left out. */
export interface AdminOptions extends Pick<AdminApiOptions, "onRevision" | "whereIs"> {
  /** What people call this server. */
  readonly name?: string | undefined;
  /** The version of the program. Default: that of this package. */
  readonly version?: string | undefined;
  /** The messages that resources may hold. Default: Envoy's. */
  readonly registry?: Registry | undefined;
  /** The layers, from the lowest to the highest. Default: those of the server now, which the API only reads. */
  readonly layers?: readonly ApiLayer[] | undefined;
  /**
   * Who may do what: `roles`, and the `tokens` and `trusted_proxies` that they name, as in the settings of the command.
   * Default: whoever reaches the listener may do everything.
   */
  readonly access?: AccessSettings | Access | undefined;
  /** Listen beyond this machine also without TLS and roles: something else protects it. */
  readonly insecure?: boolean | undefined;
  /** HTTPS, with certificates that may be replaced. */
  readonly tls?: ServerTls | undefined;
  /** Told of these certificates. */
  readonly onCertificates?: CertificatesListener | undefined;
  /** Told of connections to this listener that fail in TLS, or speak another protocol, with the reason. */
  readonly onRefused?: HandshakeFailed | undefined;
  /** Logs what happens between the server and its clients, as `xdskit serve` does. Default: nothing is logged. */
  readonly log?: AdminLogOptions | undefined;
  /** Notes who changed something, and who was refused. */
  readonly audit?: AuditLog | undefined;
  /** For `/readyz`. Default: it is ready, until the admin listener is closed. */
  readonly readiness?: (() => Readiness) | undefined;
  /** Where clients reach the server, for the page. Default: the page does not say it. */
  readonly ports?: (() => ClientPorts) | undefined;
  /** The sources, and what is wrong with them. Default: there are none. */
  readonly sources?: (() => readonly AnySourceStatus[]) | undefined;
  /** What is wrong besides certificates, clients and the store, which the server's events tell. */
  readonly troubles?: (() => readonly Trouble[]) | undefined;
  /** What keeps revisions, as far as something may be wrong with it. */
  readonly store?: AdminStore | undefined;
  /** Rollouts that are one for all servers of the store. */
  readonly rollouts?: SharedRollouts | undefined;
  /** The other servers of the store. */
  readonly others?: OtherServers | undefined;
  /** Metrics besides the server's, in Prometheus' text format. */
  readonly metrics?: (() => string) | undefined;
  /** Joins the metrics with those of other processes behind the same port. */
  readonly joinMetrics?: ((own: string) => Promise<string>) | undefined;
}

/** What is logged, and where. */
export interface AdminLogOptions {
  /** Default: `info`. */
  readonly level?: LogLevel | undefined;
  /** `json` for programs, an object on each line; `pretty` for people. Default: `json`. */
  readonly format?: LogFormat | undefined;
  /** Takes each line with its line break. Default: standard error. */
  readonly write?: ((line: string) => void) | undefined;
}

/** What may be wrong with what keeps revisions. */
export interface AdminStore {
  /** It cannot be read; undefined: it can. */
  readonly away?: (() => StoreAway | undefined) | undefined;
  /** For metrics. */
  readonly numbers?: (() => StoreNumbers) | undefined;
  /** What is wrong with it since the start. */
  readonly trouble?: Finding | undefined;
}

/** The other servers of a store, and this one among them. */
export interface OtherServers {
  /** The name of this server. */
  readonly name: string;
  /** The others, as they are known now. */
  peers(): readonly PeerServer[];
  /** Nobody said that there are others, and none is there. */
  isAlone(): boolean;
}
