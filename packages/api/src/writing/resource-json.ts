import { create, createRegistry as registryOf } from "@bufbuild/protobuf";
import { AnySchema } from "@bufbuild/protobuf/wkt";
import { XdskitError } from "../errors/errors.js";
import type { ApiVersion } from "../names/identifiers.js";
import { perObject } from "../names/per-object.js";
import { envoyRegistry, type Registry } from "../registry/registry.js";
import type { Resource } from "../resources/resource.js";
import type { KeptAsBytes } from "../unknown/json-writer.js";
import { v2Registry } from "../v2/v2-registry.js";
import { encodedAs } from "./encoded-as.js";
import { writeAny } from "./write-message.js";

/**
 * A resource in one version of the API as canonical proto3 JSON with its `"@type"`, in UTF-8. Written on first use, and
 * kept as long as the resource lives: a change of one resource in ten thousand writes one. Never write to it.
 *
 * Parts that the registry does not know are in base64 (`unknown/keys.ts`). Throws XDSKIT_TYPE_UNKNOWN if the resource's
 * type is unknown, and XDSKIT_MESSAGE_INVALID if JSON cannot express it, both with the resource's name.
 */
export type ResourceJson = (resource: Resource, api: ApiVersion) => Uint8Array;

/** Called once per resource, when it is written, with the parts that its JSON has only in base64. */
export type KeptInJson = (resource: Resource, api: ApiVersion, kept: readonly KeptAsBytes[]) => void;

/** Writes resources as JSON. `registry` resolves the content of `Any`s; default: Envoy's messages. */
export function createResourceJson(registry?: Registry, keptInJson?: KeptInJson): ResourceJson {
  const writtenOf = perObject((_: Resource): Partial<Record<ApiVersion, Uint8Array | XdskitError>> => ({}));
  let withV2: Registry | undefined;
  // Loaded on first use, since that takes time.
  const registryFor = (api: ApiVersion): Registry => {
    if (api === "v3") return registry ?? envoyRegistry();
    const ownMessages = registry !== undefined && registry !== envoyRegistry();
    withV2 ??= ownMessages ? registryOf(v2Registry(), registry) : v2Registry();
    return withV2;
  };
  return (resource, api) => {
    const written = writtenOf(resource);
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
