export type { AccessSettings, Role, TrustedProxies } from "./access/access.js";
export type { ApiCaller, ApiCallerOf, Need } from "./contract/access.js";
export type {
  ActivityKeeper,
  ActivitySample,
  AdminApiOptions,
  ApiLayer,
  SourceReport,
  Trouble,
  WhereField,
  WhereIs,
} from "./contract/admin-options.js";
export type { ProblemEntry, ProblemList, ServerPorts } from "./contract/answers.js";
export type { FleetSummary, NodeRevisionJson as NodeRevision, NodeRow, NodeRows } from "./contract/fleet.js";
export { maxPage, usualPage } from "./contract/limits.js";
export type { PeerAnswers, PeerServer as Peer } from "./contract/peers.js";
export type { ProblemDocument as Problem } from "./contract/problem.js";
export type { ClientPorts, Readiness } from "./contract/readiness.js";
export type { AnySourceStatus } from "./contract/source-status.js";
export { type Admin, createAdmin } from "./create-admin.js";
export { type AdminApi, createAdminApi } from "./create-admin-api.js";
export type { AdminLogOptions, AdminOptions, AdminStore, OtherServers } from "./listener/admin-listener-options.js";
