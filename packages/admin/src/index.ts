export type { AdminApiOptions, ApiLayer } from "./contract/admin-options.js";
export type { Problem } from "./contract/problem.js";
export { type AdminApi, createAdminApi } from "./create-admin-api.js";
