// What stores need, and the threads of stores, without the rest of the server.
export { threadProgram } from "../../basics/thread-program.js";
export type {
  CommitInfo,
  CommitResult,
  LayerCommit,
  Retention,
  StoredKey,
  StoredResource,
} from "../../contracts/store.js";
export { isKept, leasesAfter, timeAfter } from "./kept-revisions.js";
export type { OtherThread } from "./revision-store.js";
export { checkShared } from "./shared-limits.js";
export { commitLayers } from "./table-commit.js";
export { contentKey, hashOf, numberKey, revisionId } from "./table-keys.js";
export { forgetOld } from "./table-retention.js";
export { type Reader, type TableName, type Tables, tableNames, type Writer } from "./tables.js";
