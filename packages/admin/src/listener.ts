export type { ClientPorts, Readiness } from "./contract/readiness.js";
export {
  type AnySourceStatus,
  leavesOutFiles,
  pendingSource,
  type SourceStatus,
  skippedText,
  sourceAfter,
} from "./contract/source-status.js";
export { type Admin, createAdmin } from "./create-admin.js";
export type { AdminOptions, AdminStore, OtherServers } from "./listener/admin-listener-options.js";
export { askAll } from "./listener/ask-all.js";
export { countedStore, type StoreNumbers } from "./metrics/store-numbers.js";
