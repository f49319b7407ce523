import { fromBinary, type JsonObject } from "@bufbuild/protobuf";
import { envoyRegistry, type Registry } from "../registry/registry.js";
import type { Resource } from "../resources/resource.js";
import { wrapperName } from "../resources/wrapping.js";
import { readableJson } from "./readable-json.js";
import { schemaNamed, wrapResource } from "./wrapped-resource.js";

const nothing = new Uint8Array();

/**
 * The facts that a resource's message does not hold, as proto3 JSON: an `envoy.service.discovery.v3.Resource` with
 * name, aliases, TTL and constraints, and with this content in `resource`.
 */
export function wrapperJson(resource: Resource, content: unknown, registry: Registry = envoyRegistry()): JsonObject {
  const bytes = wrapResource({ ...resource, body: nothing }, registry);
  const wrapper = fromBinary(schemaNamed(wrapperName, registry), bytes);
  Object.assign(wrapper, { resource: undefined });
  return { ...readableJson(wrapper, { registry }), resource: content as JsonObject };
}
