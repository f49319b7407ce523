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
export { newestEnvoyVersion, oldestEnvoyVersion, sinceOf } from "./envoy-versions/since.js";
export { type ErrorCode, errorCodes, type XdskitErrorCode } from "./errors/error-codes.js";
export { describe, type Finding, type Where, XdskitError } from "./errors/errors.js";
export type { FieldStep } from "./errors/field-path.js";
export { errorsIn, hasErrors, messageOf } from "./errors/findings.js";
export {
  maxBody,
  maxFindings,
  maxKept,
  maxListed,
  maxNamesKept,
  maxSmallBody,
  maxWholeAnswer,
} from "./errors/limits.js";
export { didYouMean, meantOrAll } from "./errors/nearest-name.js";
export {
  type CallWithOptions,
  checkCall,
  checkIterable,
  numberOptions,
  type OptionKind,
  type OptionRule,
  type OptionTable,
  type TableOf,
} from "./errors/option-table.js";
export { findingText, printable } from "./errors/printable.js";
export { throwIfAny } from "./errors/throw-if-any.js";
export { type PlacedDocument, readDocument } from "./files/document.js";
export { type FieldPlaces, type FieldPlacesOptions, fieldPlaces, maxBytesForPlaces } from "./files/field-places.js";
export { messagesFrom, resourcesFrom, type TextOptions } from "./files/from-text.js";
export {
  type ReadResourcesOptions,
  type ResourceFile,
  type ResourceFileForm,
  readResources,
  resourceFileForm,
  resourceFileForms,
} from "./files/resource-file.js";
export {
  type NamedInRequest,
  type ReadResourceRequestOptions,
  type RequestKeys,
  type ResourceRequest,
  readResourceRequest,
} from "./files/resource-request.js";
export {
  type ReadJsonResponseOptions,
  type ReadResponseJson,
  readJsonResponse,
  type UnreadResource,
} from "./json/json-response.js";
export { type JsonText, parseJsonText } from "./json/json-text.js";
export { fileSchema, resourceSchema, type SchemaOptions } from "./json-schema/resource-schema.js";
export type { JsonSchema } from "./json-schema/well-known.js";
export { createUnpack, type Unpack, type UnpackedAny } from "./messages/any.js";
export { schemaOf, v2TypeUrlOf, v3TypeUrlOf } from "./messages/v2-names.js";
export { type Few, fewHas, fewMembers, fewSize, fewWith, fewWithout } from "./names/few-set.js";
export { getOrInsert } from "./names/get-or-insert.js";
export { withSmallHost } from "./names/host-names.js";
export type { ApiVersion, Nonce, ResourceName, TypeUrl, Version } from "./names/identifiers.js";
export { typeNameOf, typeUrlPrefix } from "./names/identifiers.js";
export { perObject } from "./names/per-object.js";
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
} from "./names/xdstp.js";
export type { Adoption } from "./reading/adoption-record.js";
export type { PositionedResource } from "./reading/file-reading.js";
export { leavesSecretOut } from "./redact/left-out-secrets.js";
export { createRedactedBody, type RedactedBody } from "./redact/redacted-resource.js";
export { redactErrorText, redacted, redactJson } from "./redact/secret-text.js";
export type { Reference } from "./references/reference.js";
export { isCollection, refersTo } from "./references/refers-to.js";
export { commentOf } from "./registry/comments.js";
export { envoySchema } from "./registry/envoy-schema.js";
export {
  createRegistry,
  descriptorSetOf,
  envoyRegistry,
  type Registry,
  type RegistryOptions,
} from "./registry/registry.js";
export { createResourceTypes, type OwnResourceType } from "./resource-types/create-resource-types.js";
export { typesOfMessages } from "./resource-types/message-types.js";
export { missingNameFinding, missingNameText, referenceText } from "./resource-types/missing-name.js";
export { noSuchType } from "./resource-types/no-such-type.js";
export { typesByUrl } from "./resource-types/opaque-types.js";
export { nameless } from "./resource-types/own-names.js";
export { type PackedTypes, packTypes, unpackTypes } from "./resource-types/packed-types.js";
export type { Absence, DiscoveryService, ResourceType, ResourceTypes } from "./resource-types/resource-type.js";
export { resourceTypes, typeNameIn, unknownResourceType } from "./resource-types/resource-types.js";
export { resourcesAlike } from "./resources/alike.js";
export { createFromPaths, type PathOf } from "./resources/from-paths.js";
export { fieldNaming } from "./resources/naming-field.js";
export { renamedResource } from "./resources/renamed.js";
export {
  createResource,
  type EncodedResource,
  type Resource,
  type ResourceOptions,
  resourceFromBody,
} from "./resources/resource.js";
export { readBody, schemaOfType } from "./resources/resource-body.js";
export { type Constraints, holdsFor, type Variant } from "./resources/variant.js";
export { listNames } from "./text/list-names.js";
export { snakeCase } from "./text/snake-case.js";
export { Alarm } from "./timing/alarm.js";
export { type Backoff, createWaits, defaultBackoff, type Waits } from "./timing/backoff.js";
export { type Clock, systemClock } from "./timing/clock.js";
export { type Deferred, deferred } from "./timing/deferred.js";
export { firstWithin } from "./timing/first-within.js";
export { atOnce, inTurns, oneByOne, type Steps } from "./timing/in-turns.js";
export { longestTimerMs } from "./timing/longest-timer.js";
export { sliceMs } from "./timing/slice.js";
export type { KeptAsBytes } from "./unknown/json-writer.js";
export { upgradeMessage } from "./v2/upgrade.js";
export { v2Registry } from "./v2/v2-registry.js";
export { judgedByEnvoyOnly } from "./validate/envoy-only.js";
export { isApiListener, type ListeningAddress, listeningAddresses } from "./validate/listening-addresses.js";
export { type ValidateOptions, validateMessage } from "./validate/validate-message.js";
export { createRegexMatch, type RegexMatch } from "./validate/values/regex-match.js";
export { encodedAs } from "./writing/encoded-as.js";
export { keptFindings } from "./writing/kept-findings.js";
export { type ReadableJsonOptions, readableJson } from "./writing/readable-json.js";
export { createResourceJson, type KeptInJson, type ResourceJson } from "./writing/resource-json.js";
export { type ShownBody, type ShownBodyOptions, shownBody } from "./writing/shown-body.js";
export { stringifyJson } from "./writing/stringify-json.js";
export { unwrapResource, wrapResource } from "./writing/wrapped-resource.js";
export { wrapperJson } from "./writing/wrapper-json.js";
export { type MessageFormat, type WriteOptions, writeMessage, writeResources } from "./writing/write-message.js";
export { writeYaml } from "./yaml/yaml-text.js";
