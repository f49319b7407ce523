import type { ApiLayer } from "@xdskit/admin";
import type { Registry, ResourceTypes } from "@xdskit/api";
import type { XdsServer } from "@xdskit/server";
import type { RevisionEvents } from "../../daemon/revisions/revision-events.js";
import { apiLayers, type FilledLayer, type StateInUse } from "../../daemon/revisions/written-state.js";
import type { Serving } from "../../daemon/serving.js";
import type { LoadedSettings } from "../../settings/load-settings.js";
import type { Settings } from "../../settings/schema.js";
import { layersOf } from "../../settings/server-settings.js";
import { clusterLayers, layerInApi, withConfigMaps } from "../../settings/written-layers.js";
import { folderLayers, ServedFolder } from "../folder/served-folder.js";
import type { ServeOptions } from "../options/serve-options.js";
import { LiveSettings } from "./live-settings.js";

interface FolderNeeds {
  readonly loaded: LoadedSettings;
  readonly server: XdsServer;
  readonly registry: Registry;
  readonly types: ResourceTypes;
  readonly state: StateInUse;
  readonly revisions: RevisionEvents;
}

/** The folder, which other settings may replace, and the layers that the API shows meanwhile. */
export async function liveFolder(
  options: ServeOptions,
  serving: Serving,
  { loaded, server, registry, types, state, revisions }: FolderNeeds,
): Promise<{ readonly live: LiveSettings; readonly layers: readonly ApiLayer[] }> {
  const { settings } = loaded;
  const { store, heads, written, history } = state;
  // Of a part: the groups that have the rest would lose all of it.
  const hasLastGood = folderLayers(loaded).every((name) => heads.some(({ layer }) => layer === name));
  const { sharedLog: log, noteFiles } = serving;
  const around = { server, registry, types, log, noteFiles, store, history, onRevision: revisions.tell };
  const first = new ServedFolder(options, {
    ...around,
    loaded,
    hasLastGood,
    before: undefined,
    nothingServed: () => serving.announceAdmin(),
  });
  const layersOfApi = (folder: ServedFolder, now: Settings) =>
    apiLayers(now, written, filledBy(options.directory === undefined ? undefined : folder, now), state);
  const layers = [...layersOfApi(first, settings)];
  const live: LiveSettings = new LiveSettings(
    {
      server,
      history,
      references: options.references,
      isWhole: options.toFiles === undefined,
      workers: serving.worker?.count,
      folderWith(next, nothingServed) {
        // Not the folder itself: each would keep all that were served before it.
        const { revision, rolledBackBy } = live.folder;
        const before = { revision, rolledBackBy };
        const successor = { loaded: { ...loaded, settings: next }, hasLastGood: false, before };
        return new ServedFolder(options, { ...around, ...successor, nothingServed });
      },
      // The API looks at the list with each request.
      moved: (folder, next) => void layers.splice(0, layers.length, ...layersOfApi(folder, next)),
    },
    settings,
    first,
  );
  return { live, layers };
}

/** The layers of a cluster and of the folder, as the API shows them. */
function filledBy(folder: ServedFolder | undefined, settings: Settings): readonly FilledLayer[] {
  const folders = folder === undefined ? [] : folderLayers({ settings });
  const all = withConfigMaps(settings, layersOf(settings) ?? folders);
  const ofCluster = (layer: string) => ({ name: layer, layer, kept: undefined });
  return [
    ...clusterLayers(settings).map(ofCluster),
    ...all.flatMap((layer) =>
      folders.includes(layer)
        ? { name: layerInApi(layer, folders), layer, kept: folder?.kept }
        : settings.configMaps === undefined
          ? []
          : ofCluster(layer),
    ),
  ];
}
