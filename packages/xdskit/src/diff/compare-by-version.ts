import type { Registry, Resource } from "@xdskit/api";
import { receivedResource } from "@xdskit/protocol";
import type { ApiClient } from "../api-client/api-client.js";
import type { ChangedResource } from "../api-client/api-types.js";
import { listResources } from "../api-client/list-resources.js";
import { createResourceView } from "../asking/output/resource-view.js";

/** Compares what a layer holds with other resources, by their versions: without asking what would become of it. */
export async function compareByVersion(
  client: ApiClient,
  layer: string,
  resources: readonly Resource[],
  registry: Registry,
): Promise<readonly ChangedResource[]> {
  const view = createResourceView(registry, false);
  const existing = new Map(
    (await listResources(client, layer)).map((each) => [`${each.type} ${each.key ?? each.name}`, each]),
  );
  const changes: ChangedResource[] = [];
  for (const resource of resources) {
    const { type, key, name, version } = resource;
    const id = `${type.typeUrl} ${key}`;
    const before = existing.get(id);
    existing.delete(id);
    if (before?.version === version) continue;
    const after = view.json(receivedResource(resource, version, { registry })).json as ChangedResource["after"];
    const change = before === undefined ? "added" : "changed";
    changes.push({ type: type.typeUrl, name, change, before: before?.resource ?? null, after });
  }
  for (const { type, name, resource } of existing.values())
    changes.push({ type, name, change: "removed", before: resource, after: null });
  return changes;
}
