import { type Finding, type Resource, readResources, typeNameIn } from "@xdskit/api";
import { emptySnapshot, planBetween, planJson } from "@xdskit/protocol";
import { createServer, type LayerUpdate, type References, type XdsServer } from "@xdskit/server";
import type { ApiClient } from "../api-client/api-client.js";
import type { LayerResource } from "../api-client/api-types.js";
import { listResources } from "../api-client/list-resources.js";
import type { CheckedDirectory } from "../checking/check-directory.js";
import { danglingReferences } from "../checking/dangling-references.js";
import type { PlannedStages } from "../comparison/stages-text.js";
import { groupNames, serverOptions } from "../settings/server-settings.js";

/** The content that a folder has for a layer. */
export interface LayerContent {
  readonly layer: string;
  readonly resources: readonly Resource[];
}

/** What would become of a change that replaces several layers at once. */
export interface JudgedTogether {
  /** The reasons for which a server would refuse it, if it would refuse some of the layers `apart`. */
  readonly together: readonly Finding[];
  /** The reasons for which it would refuse each of the layers `apart` alone. */
  readonly alone: readonly (readonly Finding[])[];
  /** Empty if it is refused; the warnings then tell only what could not be read. */
  readonly stages: readonly PlannedStages[];
  readonly warnings: readonly Finding[];
}

/**
 * Judges a change of several layers, and the changes of each of the layers `apart` alone: the API judges a change of
 * one layer. A server that no client reaches gets all `layers` of the running server, and is asked.
 * `references`: how the running server judges references.
 */
export async function judgeTogether(
  client: ApiClient,
  layers: readonly string[],
  folder: CheckedDirectory,
  references: References,
  all: readonly LayerContent[],
  apart: readonly LayerContent[],
): Promise<JudgedTogether> {
  const { settings, types } = folder;
  const existing: LayerUpdate[] = [];
  const unread: Finding[] = [];
  for (const layer of layers)
    existing.push(
      replaced({ layer, resources: resourcesOf(await listResources(client, layer), layer, folder, unread) }),
    );
  const addresses = settings.on_invalid === "skip" ? "warn" : "refuse";
  const server = createServer({ ...serverOptions(settings), references, addresses, types, eventLoop: false });
  try {
    // The first content of a source is not judged.
    await server.addSource({ name: "served", start: async (sink) => sink.apply(existing), close: async () => {} });
    const updates = all.map(replaced);
    const together = apart.length === 0 ? [] : server.checkChange(updates);
    const alone = apart.map((one) => server.checkChange([replaced(one)]));
    const { stages, warnings } =
      together.length === 0 ? outlookOf(server, updates, folder) : { stages: [], warnings: [] };
    return { together, alone, stages, warnings: [...unread, ...warnings] };
  } finally {
    await server.close();
  }
}

/** The stages of each group that a change touches, and what changed resources name that a group lacks then. */
function outlookOf(server: XdsServer, updates: readonly LayerUpdate[], folder: CheckedDirectory) {
  const previews = server.preview(updates);
  const stages = previews.map(({ group, before, after }) => ({ group, ...planJson(planBetween(before, after)) }));
  const changed = new Set<string>();
  for (const { before, after } of previews)
    for (const { type, key, name, version } of [...after.sets.values()].flatMap((set) => [...set]))
      if (before.of(type).get(key)?.version !== version) changed.add(`${type.name} ${name}`);
  const groups = groupNames(folder.settings).map((group) => {
    const preview = previews.find((one) => one.group === group);
    const { sets } = preview?.after ?? server.snapshotOf(group) ?? emptySnapshot();
    return { group, resources: [...sets.values()].flatMap((set) => [...set]) };
  });
  const warnings = danglingReferences(groups, folder.types, folder.settings, (resource) => folder.whereIs(resource))
    .filter(({ type, resource }) => changed.has(`${type} ${resource}`))
    .map((finding): Finding => ({ ...finding, severity: "warning" }));
  return { stages, warnings };
}

function replaced({ layer, resources }: LayerContent): LayerUpdate {
  return { layer, kind: "replace", upsert: resources };
}

/**
 * Resources that did not change are the folder's own: the server shows none with its secrets. A warning goes to
 * `unread` for each one that cannot be read here, such as with a message that only the server knows.
 */
function resourcesOf(
  listed: readonly LayerResource[],
  layer: string,
  folder: CheckedDirectory,
  unread: Finding[],
): readonly Resource[] {
  const { layers, registry, types } = folder;
  const own = new Map((layers.get(layer) ?? []).map((each) => [`${each.type.typeUrl} ${each.key}`, each]));
  return listed.flatMap(({ type, name, key = name, version, resource }) => {
    const same = own.get(`${type} ${key}`);
    if (same?.version === version) return [same];
    const file = { path: `${layer}.json`, bytes: Buffer.from(JSON.stringify(resource)) };
    const { resources, findings } = readResources(file, { registry, types, validate: false });
    if (resources.length === 0) {
      const { code = "XDSKIT_SYNTAX", message = "" } = findings[0] ?? {};
      const about = { file: `layer ${layer}`, type: typeNameIn(types, type), resource: name };
      const text = `its content on the server cannot be read here, so the stages leave it out: ${message}`;
      unread.push({ ...about, code, severity: "warning", message: text });
    }
    return resources.map((each) => each.resource);
  });
}
