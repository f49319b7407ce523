export { type ErrorCode, errorCodes, type XdskitErrorCode } from "./error-codes.js";
export { describe, type Finding, type Where, XdskitError } from "./errors.js";
export type { ApiVersion, Nonce, ResourceName, TypeUrl, Version } from "./identifiers.js";
export { typeUrlPrefix } from "./identifiers.js";
export type { EncodedResource, Resource } from "./resource.js";
export type {
  Absence,
  DiscoveryService,
  Reference,
  ResourceType,
  ResourceTypes,
} from "./resource-types/resource-type.js";
