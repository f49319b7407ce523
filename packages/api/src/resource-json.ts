import { create, createRegistry as registryOf } from "@bufbuild/protobuf";
import { AnySchema } from "@bufbuild/protobuf/wkt";
import { XdskitError } from "./errors.js";
import type { ApiVersion } from "./identifiers.js";
import { envoyRegistry, type Registry } from "./registry.js";
import type { Resource } from "./resource.js";
import type { KeptAsBytes } from "./unknown/json-writer.js";
import { encodedAs } from "./v2/encoded-as.js";
import { v2Registry } from "./v2/v2-registry.js";
import { writeAny } from "./write-message.js";

/**
 * A resource in one version of the API as canonical proto3 JSON with its `"@type"`, in UTF-8. Written when it is first asked for, and kept for as long
 * as the resource lives: a change of one of ten thousand writes one. Never write to it.
 *
 * What the registry does not know is in it in base64 (`unknown/keys.ts`). Throws XDSKIT_TYPE_UNKNOWN where the registry lacks the resource's type, XDSKIT_MESSAGE_INVALID for
 * what JSON cannot say, both with the resource's name.
 */
export type ResourceJson = (resource: Resource, api: ApiVersion) => Uint8Array;

type Written = Partial<Record<ApiVersion, Uint8Array | XdskitError>>;

/** Hears what of a resource is in its JSON in base64 only: once, when it is written. */
export type KeptInJson = (resource: Resource, api: ApiVersion, kept: readonly KeptAsBytes[]) => void;

/** Writes resources as JSON. `registry`: where the content of `Any`s is looked up; Envoy's messages by default. */
export function createResourceJson(registry?: Registry, keptInJson?: KeptInJson): ResourceJson {
  const known = new WeakMap<Resource, Written>();
  let withV2: Registry | undefined;
  // Not before they are needed: they take their time.
  const registryFor = (api: ApiVersion): Registry => {
    if (api === "v3") return registry ?? envoyRegistry();
    const ownMessages = registry !== undefined && registry !== envoyRegistry();
    withV2 ??= ownMessages ? registryOf(v2Registry(), registry) : v2Registry();
    return withV2;
  };
  return (resource, api) => {
    let written = known.get(resource);
    if (written === undefined) {
      written = {};
      known.set(resource, written);
    }
    written[api] ??= write(resource, api, registryFor(api), keptInJson);
    const text = written[api];
    if (text instanceof XdskitError) throw text;
    return text;
  };
}

function write(
  resource: Resource,
  api: ApiVersion,
  registry: Registry,
  keptInJson: KeptInJson | undefined,
): Uint8Array | XdskitError {
  const { typeUrl, value } = encodedAs(resource, api);
  try {
    return Buffer.from(
      writeAny(create(AnySchema, { typeUrl, value }), registry, (kept) => keptInJson?.(resource, api, kept)),
    );
  } catch (error) {
    if (!(error instanceof XdskitError)) throw error;
    const [first] = error.findings;
    const { code, message } = first ?? { code: error.code, message: error.message };
    return XdskitError.of(code, message, { type: resource.type.name, resource: resource.name });
  }
}
