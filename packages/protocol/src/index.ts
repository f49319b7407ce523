export type { Node } from "./node.js";
export type {
  OutgoingResponse,
  StatusCode,
  Stream,
  StreamEffect,
  StreamEvent,
  StreamLimits,
  StreamOptions,
  Variant,
} from "./server/contract.js";
export { statusCode } from "./server/contract.js";
export type { ResourceSet, Snapshot, Update } from "./snapshot.js";
