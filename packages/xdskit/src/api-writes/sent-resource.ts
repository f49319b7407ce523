import { createResourceJson, type Registry, type Resource, wrapperJson } from "@xdskit/api";

/**
 * Writes resources as JSON that holds all of them: in their wrappers, with name, aliases, TTL and constraints, and with
 * their secrets.
 */
export function createSentForm(registry: Registry): (resource: Resource) => object {
  const jsonOf = createResourceJson(registry);
  return (resource) => wrapperJson(resource, JSON.parse(Buffer.from(jsonOf(resource, "v3")).toString()), registry);
}
