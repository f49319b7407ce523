import type { ServerTls } from "@xdskit/server";

/** `starting`: nothing to serve yet. `stopping`: streams are ending. */
export type Readiness = "starting" | "ready" | "stopping";

/** Where clients reach the server, as `server.listen` says it; undefined: it does not listen there, or not yet. */
export interface ClientPorts {
  readonly grpc?: string | undefined;
  readonly rest?: string | undefined;
  readonly tls?: ServerTls | undefined;
}
