import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { type Any, durationMs } from "@bufbuild/protobuf/wkt";
import { envoyRegistry, resourceTypes } from "@xdskit/api";
import type { Node } from "@xdskit/api/envoy/config/core/v3/base";
import {
  DeltaDiscoveryRequestSchema,
  DeltaDiscoveryResponseSchema,
  type DiscoveryRequest,
  DiscoveryRequestSchema,
  type DiscoveryResponse,
  DiscoveryResponseSchema,
  type Resource,
  type ResourceError,
  ResourceSchema,
} from "@xdskit/api/envoy/service/discovery/v3/discovery";
import { StatusSchema } from "@xdskit/api/google/rpc/status";
import { nameFieldOf } from "@xdskit/protocol/wire";

/** State of the world, or incremental. */
export type ProtocolVariant = "sotw" | "delta";

/** The fields of a request, exactly as they are sent. Those that are left out are empty on the wire. */
export interface SentRequest {
  readonly type: string;
  readonly node?: Node | undefined;
  /** SotW. */
  readonly version?: string;
  /** SotW. */
  readonly names?: readonly string[];
  /** Delta. */
  readonly subscribe?: readonly string[];
  /** Delta. */
  readonly unsubscribe?: readonly string[];
  /** Delta: versions of resources that the client claims to have. */
  readonly initial?: Readonly<Record<string, string>>;
  readonly nonce?: string;
  /** The message of `error_detail`: the request is a NACK. */
  readonly error?: string;
}

/** One resource of a response. */
export interface ResponseResource {
  readonly name: string;
  /** Delta: the resource's own version. */
  readonly version: string;
  /** The type of the body; empty if there is no body. */
  readonly bodyType: string;
  readonly body: Uint8Array;
  readonly aliases: readonly string[];
  readonly ttlMs: number | undefined;
  /** It came in an `envoy.service.discovery.v3.Resource`. Delta: always. */
  readonly isWrapped: boolean;
}

/** Why a resource is not sent: its name, and a status of gRPC. */
export interface ReceivedError {
  readonly name: string;
  readonly code: number;
}

/** A response. `version` of a delta response is its `system_version_info`, which is for people only. */
export interface ReceivedResponse {
  readonly variant: ProtocolVariant;
  readonly type: string;
  readonly version: string;
  readonly nonce: string;
  readonly resources: readonly ResponseResource[];
  readonly removed: readonly string[];
  readonly errors: readonly ReceivedError[];
}

const invalidArgument = 3;
const wrapper = `type.googleapis.com/${ResourceSchema.typeName}`;

const commonFields = ({ type: typeUrl, node, nonce: responseNonce = "", error }: SentRequest) => ({
  typeUrl,
  node,
  responseNonce,
  errorDetail: error === undefined ? undefined : create(StatusSchema, { code: invalidArgument, message: error }),
});

/** A request of the state of the world. */
export function stateRequest(request: SentRequest): DiscoveryRequest {
  const { version: versionInfo = "", names: resourceNames = [] } = request;
  return create(DiscoveryRequestSchema, { ...commonFields(request), versionInfo, resourceNames: [...resourceNames] });
}

export function encodeRequest(variant: ProtocolVariant, request: SentRequest): Uint8Array {
  if (variant === "sotw") return toBinary(DiscoveryRequestSchema, stateRequest(request));
  const { subscribe = [], unsubscribe = [], initial = {} } = request;
  const message = create(DeltaDiscoveryRequestSchema, {
    ...commonFields(request),
    resourceNamesSubscribe: [...subscribe],
    resourceNamesUnsubscribe: [...unsubscribe],
    initialResourceVersions: { ...initial },
  });
  return toBinary(DeltaDiscoveryRequestSchema, message);
}

/** Throws if the bytes are no response. */
export function decodeResponse(variant: ProtocolVariant, bytes: Uint8Array): ReceivedResponse {
  if (variant === "sotw") return receivedState(fromBinary(DiscoveryResponseSchema, bytes));
  const response = fromBinary(DeltaDiscoveryResponseSchema, bytes);
  return {
    variant,
    type: response.typeUrl,
    version: response.systemVersionInfo,
    nonce: response.nonce,
    resources: response.resources.map(wrappedResource),
    removed: response.removedResources,
    errors: errorsOf(response),
  };
}

/** A response of the state of the world. */
export function receivedState(response: DiscoveryResponse): ReceivedResponse {
  const { typeUrl: type, versionInfo: version, nonce, resources } = response;
  const common = { removed: [], errors: errorsOf(response) };
  return { variant: "sotw", type, version, nonce, resources: resources.map(bareResource), ...common };
}

const errorsOf = ({ resourceErrors }: { readonly resourceErrors: readonly ResourceError[] }) =>
  resourceErrors.map(({ resourceName, errorDetail }) => ({
    name: resourceName?.name ?? "",
    code: errorDetail?.code ?? 0,
  }));

const nothing = new Uint8Array();

function wrappedResource({ name, version, resource, aliases, ttl }: Resource): ResponseResource {
  const ttlMs = ttl === undefined ? undefined : durationMs(ttl);
  const [bodyType, body] = [resource?.typeUrl ?? "", resource?.value ?? nothing];
  return { name, version, bodyType, body, aliases, ttlMs, isWrapped: true };
}

/** A resource of a SotW response, which may be wrapped. */
function bareResource({ typeUrl, value }: Any): ResponseResource {
  if (typeUrl === wrapper) {
    const resource = wrappedResource(fromBinary(ResourceSchema, value));
    return resource.name === "" ? { ...resource, name: nameIn(resource.bodyType, resource.body) } : resource;
  }
  const alone = { version: "", aliases: [], ttlMs: undefined, isWrapped: false };
  return { name: nameIn(typeUrl, value), bodyType: typeUrl, body: value, ...alone };
}

/** The name that a body says; empty if it says none, or cannot be read. */
function nameIn(typeUrl: string, body: Uint8Array): string {
  const type = resourceTypes.byTypeUrl(typeUrl)?.type;
  if (type === undefined) return "";
  try {
    return nameFieldOf(type, envoyRegistry())(body, { start: 0, end: body.length }) ?? "";
  } catch {
    return "";
  }
}
