import { type create, fromBinary, type JsonObject } from "@bufbuild/protobuf";
import { createResourceJson, type Registry, type Resource, readableJson, schemaOf, wrapResource } from "@xdskit/api";

const wrapperName = "envoy.service.discovery.v3.Resource";

/**
 * Writes resources as JSON that holds all of them: in their wrappers, with name, aliases, TTL and constraints, and with
 * their secrets.
 */
export function createSentForm(registry: Registry): (resource: Resource) => JsonObject {
  const jsonOf = createResourceJson(registry);
  const schema = schemaOf(wrapperName, registry);
  if (schema === undefined) throw new Error(`the registry lacks ${wrapperName}`);
  return (resource) => {
    const bytes = wrapResource({ ...resource, body: nothing }, registry);
    const wrapper = fromBinary(schema, bytes) as ReturnType<typeof create> & { resource?: unknown };
    // Its content is written by the writer that keeps what the registry does not know.
    wrapper.resource = undefined;
    const content = JSON.parse(Buffer.from(jsonOf(resource, "v3")).toString()) as JsonObject;
    return { ...readableJson(wrapper, { registry, secrets: true }), resource: content };
  };
}

const nothing = new Uint8Array();
