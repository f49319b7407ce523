import { create, toBinary } from "@bufbuild/protobuf";
import { durationFromMs } from "@bufbuild/protobuf/wkt";
import {
  DeltaDiscoveryResponseSchema,
  DiscoveryResponseSchema,
  ResourceSchema,
} from "@xdskit/api/envoy/service/discovery/v3/discovery";
import type { Mistake } from "./mistakes.js";
import type { ReferenceResource } from "./reference-state.js";

const otherType = "type.googleapis.com/google.protobuf.Empty";

export interface ReferenceResponse {
  readonly type: string;
  readonly version: string;
  readonly nonce: string;
  readonly resources: readonly ReferenceResource[];
  /** Delta. */
  readonly removed?: readonly string[];
  /** Names of what cannot be sent, for a client that understands errors. */
  readonly errors?: readonly string[];
  /** The client understands TTLs. */
  readonly isTtlTold: boolean;
  /** Delta: names of virtual hosts that do not exist. */
  readonly unresolved?: readonly string[];
  /** Only the TTLs are renewed. */
  readonly isHeartbeat?: boolean;
}

const notFound = 5;
const wrapper = `type.googleapis.com/${ResourceSchema.typeName}`;

function versionOf(version: string, mistakes: ReadonlySet<Mistake>): string {
  if (mistakes.has("no-version")) return "";
  return mistakes.has("version-kept") ? "always" : version;
}

/** The resources as they are sent, with the mistakes that are about their form. */
function sent(response: ReferenceResponse, mistakes: ReadonlySet<Mistake>) {
  const { type, resources, isTtlTold, isHeartbeat } = response;
  const [first] = resources;
  const isTwice =
    first !== undefined && (mistakes.has("names-twice") || (first.aliases.length > 0 && mistakes.has("alias-twice")));
  const all = isTwice ? [first, ...resources] : resources;
  const typeUrl = mistakes.has("wrong-body-type") ? otherType : type;
  return all.map(({ name, version, body, aliases, ttlMs }) => ({
    name: type.endsWith("Collection") && mistakes.has("list-unnamed") ? "" : name,
    version: isHeartbeat && mistakes.has("heartbeat-version") ? `${version}-beat` : versionOf(version, mistakes),
    resource: { typeUrl, value: body },
    aliases: [...aliases],
    ...(ttlMs !== undefined && (isTtlTold || mistakes.has("ttl-to-all")) ? { ttl: durationFromMs(ttlMs) } : {}),
  }));
}

function errorsOf({ errors = [] }: ReferenceResponse, mistakes: ReadonlySet<Mistake>) {
  return errors.map((name) => ({
    resourceName: { name: mistakes.has("error-unnamed") ? "" : name },
    errorDetail: { code: notFound, message: "there is none" },
  }));
}

export function encodeSotw(response: ReferenceResponse, mistakes: ReadonlySet<Mistake>): Uint8Array {
  // A list has no name of its own.
  const isNameless = response.type.endsWith("Collection") && !mistakes.has("list-unnamed");
  const message = create(DiscoveryResponseSchema, {
    typeUrl: response.type,
    versionInfo: versionOf(response.version, mistakes),
    nonce: response.nonce,
    resources: sent(response, mistakes).map((one) => {
      if (one.ttl === undefined && !isNameless) return one.resource;
      return { typeUrl: wrapper, value: toBinary(ResourceSchema, create(ResourceSchema, one)) };
    }),
    resourceErrors: errorsOf(response, mistakes),
  });
  return toBinary(DiscoveryResponseSchema, message);
}

export function encodeDelta(response: ReferenceResponse, mistakes: ReadonlySet<Mistake>): Uint8Array {
  const unresolved = (response.unresolved ?? []).map((name) => ({ name, aliases: [name] }));
  const resources = sent(response, mistakes).map((one) => {
    if (!response.isHeartbeat) return one;
    const { resource: _, ...bare } = one;
    return bare;
  });
  const message = create(DeltaDiscoveryResponseSchema, {
    typeUrl: response.type,
    systemVersionInfo: response.version,
    nonce: response.nonce,
    resources: [...resources, ...unresolved],
    removedResources: [...(response.removed ?? [])],
    resourceErrors: errorsOf(response, mistakes),
  });
  return toBinary(DeltaDiscoveryResponseSchema, message);
}
