// What stores need, and the threads of stores, without the rest of the server.
export { answerOf, startThread } from "@xdskit/api/threads";
export type {
  CommitInfo,
  CommitResult,
  LayerCommit,
  Retention,
  StoredKey,
  StoredResource,
} from "../../contracts/stores/store.js";
export { damaged } from "../basics/damage.js";
export { LatestWork } from "../basics/latest-work.js";
export { LiveSession } from "../basics/live-session.js";
export { readAgainMs } from "../basics/paces.js";
export { isKept, leasesAfter, timeAfter } from "./kept-revisions.js";
export { type OtherThread, partSize } from "./revision-store.js";
export { checkShared } from "./shared-limits.js";
export { causedBy, commitLayers } from "./table-commit.js";
export { contentKey, hashOf, numberKey, revisionId } from "./table-keys.js";
export { forgetOld } from "./table-retention.js";
export { type Reader, type TableName, type Tables, tableNames, type Writer } from "./tables.js";
