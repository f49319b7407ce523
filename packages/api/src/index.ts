export type { Adoption } from "./adoption/adoption.js";
export { createUnpack, schemaOf, typeNameOf, type Unpack, type UnpackedAny } from "./any.js";
export { type BodyMemory, createBodyMemory } from "./compiled/body-slabs.js";
export { type PlacedDocument, readDocument } from "./document.js";
export { envoySchema } from "./envoy-schema.js";
export {
  compareEnvoyVersions,
  type EnvoyVersion,
  formatEnvoyVersion,
  parseEnvoyVersion,
} from "./envoy-versions/envoy-version.js";
export {
  describeNewerPart,
  type MissingExtension,
  missingExtensions,
  type NewerPart,
  newerParts,
} from "./envoy-versions/newer-parts.js";
export { newestEnvoyVersion } from "./envoy-versions/since.js";
export { type ErrorCode, errorCodes, type XdskitErrorCode } from "./error-codes.js";
export { describe, type Finding, type Where, XdskitError } from "./errors.js";
export { type Few, fewHas, fewMembers, fewSize, fewWith, fewWithout } from "./few-set.js";
export type { FieldStep } from "./field-path.js";
export type { PositionedResource } from "./file-reading.js";
export type { ApiVersion, Nonce, ResourceName, TypeUrl, Version } from "./identifiers.js";
export { typeUrlPrefix } from "./identifiers.js";
export {
  type ReadJsonResponseOptions,
  type ReadResponseJson,
  readJsonResponse,
  type UnreadResource,
} from "./json-response.js";
export { type JsonText, parseJsonText } from "./json-text.js";
export { didYouMean } from "./nearest-name.js";
export { typesByUrl } from "./opaque-types.js";
export {
  type CallWithOptions,
  checkCall,
  checkIterable,
  numberOptions,
  type OptionKind,
  type OptionRule,
  type OptionTable,
  type TableOf,
} from "./option-table.js";
export { type ReadableJsonOptions, readableJson } from "./readable-json.js";
export { createRedactedBody, type RedactedBody } from "./redact/redacted-resource.js";
export { redactErrorText, redacted, redactJson } from "./redact/secret-text.js";
export { createFromPaths, type PathOf } from "./references/from-paths.js";
export { isCollection, refersTo } from "./references/refers-to.js";
export { createRegistry, descriptorSetOf, envoyRegistry, type Registry, type RegistryOptions } from "./registry.js";
export {
  createResource,
  type EncodedResource,
  type Resource,
  type ResourceOptions,
  resourceFromBody,
} from "./resource.js";
export {
  type ReadResourcesOptions,
  type ResourceFile,
  type ResourceFileForm,
  readResources,
  resourceFileForm,
  resourceFileForms,
} from "./resource-file.js";
export { createResourceJson, type KeptInJson, type ResourceJson } from "./resource-json.js";
export { createResourceTypes, nameless, type OwnResourceType } from "./resource-types/create-resource-types.js";
export { typesOfMessages } from "./resource-types/message-types.js";
export { type PackedTypes, packTypes, unpackTypes } from "./resource-types/packed-types.js";
export type {
  Absence,
  DiscoveryService,
  Reference,
  ResourceType,
  ResourceTypes,
} from "./resource-types/resource-type.js";
export { resourceTypes, unknownResourceType } from "./resource-types/resource-types.js";
export type { KeptAsBytes } from "./unknown/json-writer.js";
export { keptFindings } from "./unknown/kept-findings.js";
export { encodedAs } from "./v2/encoded-as.js";
export { v2TypeUrlOf, v3TypeUrlOf } from "./v2/names.js";
export { upgradeMessage } from "./v2/upgrade.js";
export { v2Registry } from "./v2/v2-registry.js";
export { createRegexMatch, type RegexMatch } from "./validate/regex-match.js";
export { type ValidateOptions, validateMessage } from "./validate/validate-message.js";
export { type Constraints, holdsFor, type Variant } from "./variant.js";
export { type MessageFormat, type WriteOptions, writeMessage, writeResources } from "./write-message.js";
export {
  authorityOf,
  canonicalName,
  formatName,
  globOf,
  isGlob,
  isGlobName,
  isListType,
  nameProblem,
  type ParsedName,
  parseName,
  sameName,
  type XdstpDirective,
  type XdstpName,
} from "./xdstp.js";
export { writeYaml } from "./yaml-text.js";
