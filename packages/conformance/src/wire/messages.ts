import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { envoyRegistry, resourceTypes } from "@xdskit/api";
import type { Node } from "@xdskit/api/envoy/config/core/v3/base";
import {
  DeltaDiscoveryRequestSchema,
  DeltaDiscoveryResponseSchema,
  DiscoveryRequestSchema,
  DiscoveryResponseSchema,
  ResourceSchema,
} from "@xdskit/api/envoy/service/discovery/v3/discovery";
import { StatusSchema } from "@xdskit/api/google/rpc/status";
import { nameFieldOf } from "@xdskit/protocol/wire";

/** State of the world, or incremental. */
export type Variant = "sotw" | "delta";

/** The fields of a request, exactly as they are sent. Those that are left out are empty on the wire. */
export interface Request {
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
export interface ReceivedResource {
  readonly name: string;
  /** Delta: the resource's own version. */
  readonly version: string;
  /** The type of the body; empty if there is no body. */
  readonly bodyType: string;
  readonly body: Uint8Array;
}

/** A response. `version` of a delta response is its `system_version_info`, which is for people only. */
export interface Received {
  readonly variant: Variant;
  readonly type: string;
  readonly version: string;
  readonly nonce: string;
  readonly resources: readonly ReceivedResource[];
  readonly removed: readonly string[];
}

const invalidArgument = 3;
const wrapper = `type.googleapis.com/${ResourceSchema.typeName}`;

export function encodeRequest(variant: Variant, request: Request): Uint8Array {
  const { type: typeUrl, node, nonce: responseNonce = "", error } = request;
  const errorDetail = error === undefined ? undefined : create(StatusSchema, { code: invalidArgument, message: error });
  const common = { typeUrl, node, responseNonce, errorDetail };
  if (variant === "sotw") {
    const { version: versionInfo = "", names: resourceNames = [] } = request;
    const message = { ...common, versionInfo, resourceNames: [...resourceNames] };
    return toBinary(DiscoveryRequestSchema, create(DiscoveryRequestSchema, message));
  }
  const { subscribe = [], unsubscribe = [], initial = {} } = request;
  const message = create(DeltaDiscoveryRequestSchema, {
    ...common,
    resourceNamesSubscribe: [...subscribe],
    resourceNamesUnsubscribe: [...unsubscribe],
    initialResourceVersions: { ...initial },
  });
  return toBinary(DeltaDiscoveryRequestSchema, message);
}

/** Throws if the bytes are no response. */
export function decodeResponse(variant: Variant, bytes: Uint8Array): Received {
  if (variant === "sotw") {
    const { typeUrl: type, versionInfo: version, nonce, resources } = fromBinary(DiscoveryResponseSchema, bytes);
    return { variant, type, version, nonce, resources: resources.map((any) => bareResource(any)), removed: [] };
  }
  const response = fromBinary(DeltaDiscoveryResponseSchema, bytes);
  return {
    variant,
    type: response.typeUrl,
    version: response.systemVersionInfo,
    nonce: response.nonce,
    resources: response.resources.map(({ name, version, resource }) => ({
      name,
      version,
      bodyType: resource?.typeUrl ?? "",
      body: resource?.value ?? nothing,
    })),
    removed: response.removedResources,
  };
}

const nothing = new Uint8Array();

/** A resource of a SotW response, which may be wrapped. */
function bareResource({ typeUrl, value }: { readonly typeUrl: string; readonly value: Uint8Array }): ReceivedResource {
  if (typeUrl !== wrapper) return { name: nameIn(typeUrl, value), version: "", bodyType: typeUrl, body: value };
  const { name, version, resource } = fromBinary(ResourceSchema, value);
  const [bodyType, body] = [resource?.typeUrl ?? "", resource?.value ?? nothing];
  return { name: name === "" ? nameIn(bodyType, body) : name, version, bodyType, body };
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
