export { intervalOver } from "./beat.js";
export { type Change, changeBetween, type Difference } from "./change.js";
export { createClientStream } from "./client/client-stream.js";
export type {
  AbsenceReason,
  CheckMessage,
  ClientRejection,
  ClientStream,
  ClientStreamEffect,
  ClientStreamEvent,
  ClientStreamLimits,
  ClientStreamOptions,
  ClientTypeStatus,
  OutgoingRequest,
  ResourceUpdate,
} from "./client/contract.js";
export { defaultClientStreamLimits } from "./client/limits.js";
export {
  keptResource,
  type ReceivedOptions,
  type ReceivedParts,
  type ReceivedResource,
  receivedResource,
} from "./client/received.js";
export type { BadResource } from "./client/rejection.js";
export { createStandardCheck } from "./client/standard-check.js";
export { envoyVersionOf } from "./client-kind.js";
export type {
  Crowd,
  CrowdClient,
  CrowdInterest,
  CrowdOptions,
  CrowdRequest,
  CrowdResponse,
  Held,
  Lack,
} from "./crowd/contract.js";
export { createCrowd } from "./crowd/crowd.js";
export { createDanglingNames, type DanglingChange, type DanglingNames } from "./dangling-names.js";
export { isLocator } from "./locator.js";
export { type JsonRequest, type ReadJsonRequest, readJsonRequest } from "./messages/json-request.js";
export {
  type ClusterLoad,
  type EndpointLoad,
  type LoadMetric,
  type LoadStatsLimits,
  type LoadStatsRequest,
  type LocalityLoad,
  type RequestLoad,
  TooMuchInMessage,
} from "./messages/load-stats.js";
export { readLoadStatsRequest } from "./messages/read-load-stats.js";
export type { ResourceError } from "./messages/responses.js";
export { MalformedMessage } from "./messages/wire-reader.js";
export { NameSet } from "./name-set.js";
export type { Node } from "./node.js";
export { mostStages, type Plan, type PlanStage, planBetween, type TypeChange } from "./plan.js";
export { formatPlan, type PlanTextOptions } from "./plan-text.js";
export { emptyResourceSet, type ResourceSet, ResourceSets } from "./resource-set.js";
export { countDifferences, missingNames } from "./server/behind.js";
export { BoundedCache } from "./server/bounded-cache.js";
export type { Rejection } from "./server/client-use.js";
export type {
  HeldItem,
  HeldMemory,
  OutgoingResponse,
  ResourceErrorPolicy,
  ResponseBody,
  StatusCode,
  Stream,
  StreamEffect,
  StreamEvent,
  StreamLimits,
  StreamOptions,
  TtlPolicy,
  Variant,
} from "./server/contract.js";
export { statusCode, ttlPolicies } from "./server/contract.js";
export { foreignAuthority } from "./server/foreign-authorities.js";
export { defaultStreamLimits } from "./server/limits.js";
export type { WaitEnded } from "./server/ordered-stream.js";
export { Ordering } from "./server/ordering.js";
export { defaultOrderingTimes, type OrderingTimes, orderingTimesFor } from "./server/ordering-times.js";
export { isSetVersion, mayDiffer, type Selection, select, selectionOf } from "./server/selection.js";
export { SnapshotLine } from "./server/snapshot-line.js";
export { createStream } from "./server/stream.js";
export { tellsTtl } from "./server/ttl-policy.js";
export type { TypeStatus } from "./server/type-status.js";
export { asksForUnknown, type UnknownTypes } from "./server/unknown-types.js";
export { branchSnapshot, emptySnapshot, type Snapshot, shortestBeat, type Update, updateSnapshot } from "./snapshot.js";
export { covers, type Subscription } from "./subscription.js";
export { isForAnswer, type Wait } from "./wait.js";
