import { create, toBinary } from "@bufbuild/protobuf";
import {
  DeltaDiscoveryResponseSchema,
  DiscoveryResponseSchema,
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
}

function versionOf(version: string, mistakes: ReadonlySet<Mistake>): string {
  if (mistakes.has("no-version")) return "";
  return mistakes.has("version-kept") ? "always" : version;
}

/** The resources as they are sent, with the mistakes that are about their form. */
function sent({ type, resources }: ReferenceResponse, mistakes: ReadonlySet<Mistake>) {
  const [first] = resources;
  const all = first !== undefined && mistakes.has("names-twice") ? [first, ...resources] : resources;
  const typeUrl = mistakes.has("wrong-body-type") ? otherType : type;
  return all.map(({ name, version, body }) => ({
    name,
    version: versionOf(version, mistakes),
    resource: { typeUrl, value: body },
  }));
}

export function encodeSotw(response: ReferenceResponse, mistakes: ReadonlySet<Mistake>): Uint8Array {
  const message = create(DiscoveryResponseSchema, {
    typeUrl: response.type,
    versionInfo: versionOf(response.version, mistakes),
    nonce: response.nonce,
    resources: sent(response, mistakes).map(({ resource }) => resource),
  });
  return toBinary(DiscoveryResponseSchema, message);
}

export function encodeDelta(response: ReferenceResponse, mistakes: ReadonlySet<Mistake>): Uint8Array {
  const message = create(DeltaDiscoveryResponseSchema, {
    typeUrl: response.type,
    systemVersionInfo: response.version,
    nonce: response.nonce,
    resources: sent(response, mistakes),
    removedResources: [...(response.removed ?? [])],
  });
  return toBinary(DeltaDiscoveryResponseSchema, message);
}
