export { MalformedMessage } from "@xdskit/api/wire";
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
} from "./client/contract/contract.js";
export { defaultClientStreamLimits } from "./client/contract/limits.js";
export {
  keptResource,
  type ReceivedOptions,
  type ReceivedParts,
  type ReceivedResource,
  receivedResource,
} from "./client/contract/received.js";
export type { BadResource } from "./client/contract/rejection.js";
export { createStandardCheck } from "./client/contract/standard-check.js";
export { type FileContent, FileSubscription } from "./client/file-subscription.js";
export { intervalOver } from "./model/basics/beat.js";
export { type ClientKind, clientKindOf, envoyVersionOf } from "./model/basics/client-kind.js";
export { rejectionReasons } from "./model/basics/limits.js";
export { BoundedCache } from "./model/basics/memo.js";
export type { Node } from "./model/basics/node.js";
export { isForAnswer, type Wait } from "./model/basics/wait.js";
export { isLocator } from "./model/names/locator.js";
export { NameSet } from "./model/names/name-set.js";
export { type Change, changeBetween, type Difference } from "./model/sets/change.js";
export { emptyResourceSet, type ResourceSet, ResourceSets } from "./model/sets/resource-set.js";
export { calledName } from "./model/sets/variant-index.js";
export {
  createDanglingNames,
  type DanglingChange,
  type DanglingNames,
  type FollowedNames,
  hasNamed,
  namesIn,
} from "./model/snapshots/dangling-names.js";
export { isNamedBy } from "./model/snapshots/named-by.js";
export { notePublished } from "./model/snapshots/published.js";
export {
  branchSnapshot,
  emptySnapshot,
  type Snapshot,
  shortestBeat,
  snapshotOf,
  type Update,
  updateSnapshot,
} from "./model/snapshots/snapshot.js";
export { covers, type Subscription } from "./model/subscribed/subscription.js";
export { maxStages, type Plan, type PlanStage, planBetween, type TypeChange } from "./planning/plan.js";
export { planJson, type StageJson, type WaitJson } from "./planning/plan-json.js";
export {
  type ChangeOutline,
  formatPlan,
  type PlanOutline,
  type PlanTextOptions,
  type StageOutline,
  type WaitOutline,
} from "./planning/plan-text.js";
export type { StreamEffect, WaitEnded } from "./server/contract/effects.js";
export { defaultStreamLimits } from "./server/contract/limits.js";
export type {
  ResourceErrorPolicy,
  RetainedItem,
  RetainedMemory,
  StreamLimits,
  StreamOptions,
  TtlPolicy,
} from "./server/contract/options.js";
export { ttlPolicies } from "./server/contract/options.js";
export type { OutgoingResponse, ResponseBody } from "./server/contract/response.js";
export { tellsTtl } from "./server/contract/ttl-policy.js";
export { Ordering } from "./server/ordering/ordering.js";
export { defaultOrderingTimes, type OrderingTimes, orderingTimesFor } from "./server/ordering/ordering-times.js";
export { type PastSnapshots, replacesListeners } from "./server/ordering/past-listeners.js";
export { SnapshotLineage } from "./server/ordering/snapshot-lineage.js";
export type { StageWaited } from "./server/ordering/stage-waits.js";
export { anotherNode, isAnotherNode } from "./server/requests/another-node.js";
export { foreignAuthority } from "./server/requests/foreign-authorities.js";
export { asksForUnknown, type UnknownTypes } from "./server/requests/unknown-types.js";
export { countDifferences, missingNames } from "./server/responses/behind.js";
export type { ClaimedSnapshot } from "./server/responses/claimed-snapshot.js";
export { mayBeWarming } from "./server/responses/may-be-warming.js";
export { isSetVersion, mayDiffer, type Selection, select, selectionOf } from "./server/responses/selection.js";
export { mayName } from "./server/responses/shown-names.js";
export type { TypeStatus } from "./server/state/type-status.js";
export type { Rejection } from "./server/state/used-state.js";
export type { Stream, StreamEvent } from "./server/stream/contract.js";
export { createStream } from "./server/stream/stream.js";
export type { SotwOrDelta } from "./wire/basics/sotw-or-delta.js";
export type { StatusCode } from "./wire/basics/status-code.js";
export { statusCode } from "./wire/basics/status-code.js";
export {
  type ClusterLoad,
  type EndpointLoad,
  type LoadMetric,
  type LoadStatsLimits,
  type LoadStatsRequest,
  type LocalityLoad,
  type RequestLoad,
  TooMuchInMessage,
} from "./wire/loads/load-stats.js";
export { readLoadStatsRequest } from "./wire/loads/read-load-stats.js";
export { type JsonRequest, type ReadJsonRequest, readJsonRequest } from "./wire/requests/json-request.js";
export { beyondNames } from "./wire/requests/names.js";
export type { ResourceError } from "./wire/responses/responses.js";
