import type { AdminApi } from "@xdskit/admin";
import type { Finding } from "@xdskit/api";
import type { ServerTls, StoreAway, XdsServer } from "@xdskit/server";
import type { ListenPlace } from "@xdskit/server/address";
import type { Access } from "../access/access.js";
import type { AuditLog } from "../access/audit-log.js";
import type { AllSources } from "./all-sources.js";
import type { RolloutsInput } from "./rollout-pages.js";
import type { AnySourceStatus } from "./source-status.js";

/** `starting`: nothing to serve yet. `stopping`: streams are ending. */
export type Readiness = "starting" | "ready" | "stopping";

/** Where clients reach the server; undefined: it does not listen there yet, or not at all. */
export interface ClientPorts {
  readonly grpc?: ListenPlace | undefined;
  readonly rest?: ListenPlace | undefined;
  readonly tls?: ServerTls | undefined;
}

/** The state that the admin pages show. */
export interface AdminState {
  /** Answers paths below `/api/v1/` besides the pages. Loaded at the first request. */
  api(): Promise<Pick<AdminApi, "respond">>;
  /** What people call this server. */
  readonly name?: string | undefined;
  readonly access: Access;
  /** Undefined: nothing is noted. */
  readonly audit?: AuditLog | undefined;
  readiness(): Readiness;
  /** In Prometheus' text format. */
  metrics(): Promise<{ readonly contentType: string; readonly text: string }>;
  /** The sources of this server. */
  sources(): readonly AnySourceStatus[];
  /** The sources of all servers of the store; undefined: there is one server only. */
  readonly allSources?: (() => Promise<AllSources>) | undefined;
  readonly rollouts: RolloutsInput;
  ports(): ClientPorts;
  readonly stats: XdsServer["stats"];
  /** What is wrong with the state since the start. */
  readonly stateTrouble?: Finding | undefined;
  /** The store cannot be read; undefined: it can, or there is none. */
  readonly storeAway?: (() => StoreAway | undefined) | undefined;
  /** The last revision could not be written; undefined: it could, or nothing is kept. */
  readonly storeFailing?: (() => StoreAway | undefined) | undefined;
}
