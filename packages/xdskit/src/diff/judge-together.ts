import { type Finding, type Resource, readResources } from "@xdskit/api";
import { createServer, type LayerUpdate } from "@xdskit/server";
import type { ApiClient } from "../api-client/api-client.js";
import { type ListedResource, listResources } from "../api-client/list-resources.js";
import { serverOptions } from "../settings/server-settings.js";
import type { CheckedDirectory } from "../validate/check-directory.js";

/** The content that a folder has for a layer. */
export interface LayerContent {
  readonly layer: string;
  readonly resources: readonly Resource[];
}

/**
 * The reasons for which a server would refuse each of these changes, which replace several layers at once: the API
 * judges a change of one layer. A server that no client reaches gets all `layers` of the running server, and is asked.
 * `refusesReferences`: the running server refuses changes that break references. `unread` has a warning for each
 * resource of the server that cannot be read here, and so is not judged.
 */
export async function judgeTogether(
  client: ApiClient,
  layers: readonly string[],
  folder: CheckedDirectory,
  refusesReferences: boolean,
  changes: readonly (readonly LayerContent[])[],
): Promise<{ readonly refusals: readonly (readonly Finding[])[]; readonly unread: readonly Finding[] }> {
  const { settings, types } = folder;
  const held: LayerUpdate[] = [];
  const unread: Finding[] = [];
  for (const layer of layers) {
    const found = heldBy(await listResources(client, layer), layer, folder);
    held.push(replaced(layer, found.resources));
    unread.push(...found.unread);
  }
  const references = refusesReferences ? "refuse" : "warn";
  const addresses = settings.on_invalid === "skip" ? "warn" : "refuse";
  const server = createServer({ ...serverOptions(settings), references, addresses, types, eventLoop: false });
  try {
    // The first content of a source is not judged.
    await server.addSource({ name: "served", start: async (sink) => sink.apply(held), close: async () => {} });
    const refusals = changes.map((contents) =>
      server.checkChange(contents.map(({ layer, resources }) => replaced(layer, resources))),
    );
    return { refusals, unread };
  } finally {
    await server.close();
  }
}

function replaced(layer: string, upsert: readonly Resource[]): LayerUpdate {
  return { layer, kind: "replace", upsert };
}

/** Resources that did not change are the folder's own: the server shows none with its secrets. */
function heldBy(listed: readonly ListedResource[], layer: string, folder: CheckedDirectory) {
  const { layers, registry, types } = folder;
  const own = new Map((layers.get(layer) ?? []).map((each) => [`${each.type.typeUrl} ${each.key}`, each]));
  const held: Resource[] = [];
  const others: ListedResource["resource"][] = [];
  for (const { type, name, key = name, version, resource } of listed) {
    const same = own.get(`${type} ${key}`);
    if (same?.version === version) held.push(same);
    else others.push(resource);
  }
  const bytes = Buffer.from(JSON.stringify(others));
  const { resources, findings } = readResources({ path: `${layer}.json`, bytes }, { registry, types, validate: false });
  const unread = findings
    .filter(({ severity }) => severity === "error")
    .map(({ code, message, type, resource }): Finding => {
      const what = `what the server has in layer ${layer} cannot be read here, and is not judged: ${message}`;
      return { code, severity: "warning", message: what, type, resource };
    });
  return { resources: [...held, ...resources.map(({ resource }) => resource)], unread };
}
