import type { IncomingMessage, ServerResponse } from "node:http";
import type { XdsServer } from "@xdskit/server";
import type { Access } from "../access/access.js";
import type { AuditLog } from "../access/audit-log.js";
import type { ClientPorts, Readiness } from "../contract/readiness.js";
import type { AnySourceStatus } from "../contract/source-status.js";
import type { MetricsText } from "../metrics/scrape.js";
import type { AdminStore } from "./admin-listener-options.js";
import type { AllSources } from "./all-sources.js";
import type { RolloutsInput } from "./rollout-pages.js";

/** The state that the admin pages show. */
export interface AdminState {
  /** Answers paths below `/api/v1/` besides the pages. Loaded at the first request. */
  api(): Promise<AnswersRequests>;
  /** Of the program. */
  readonly version: string;
  /** What people call this server. */
  readonly name?: string | undefined;
  readonly access: Access;
  /** Undefined: nothing is noted. */
  readonly audit?: AuditLog | undefined;
  readiness(): Readiness;
  /** In Prometheus' text format. */
  metrics(): Promise<MetricsText>;
  /** The sources of this server. */
  sources(): readonly AnySourceStatus[];
  /** The sources of all servers of the store; undefined: there is one server only. */
  readonly allSources?: (() => Promise<AllSources>) | undefined;
  readonly rollouts: RolloutsInput;
  ports(): ClientPorts;
  readonly stats: XdsServer["stats"];
  /** Undefined: nothing is kept. */
  readonly store?: AdminStore | undefined;
}

/** The HTTP API, as far as the listener needs it. */
interface AnswersRequests {
  respond(request: IncomingMessage, response: ServerResponse): Promise<void>;
}
