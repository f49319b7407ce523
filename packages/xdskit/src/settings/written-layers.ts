import { type LayerName, wholeFolderLayer } from "@xdskit/server";
import type { Settings } from "./schema.js";

/** A layer that the API writes. */
export interface WrittenLayer {
  readonly name: LayerName;
  /** Whether it wins over the folder's layers, or they over it. */
  readonly place: "over" | "under";
  /** The groups that have it; undefined: all. */
  readonly groups: readonly string[] | undefined;
}

type LayerSettings = Pick<Settings, "groups" | "layers" | "lowest" | "configMaps">;

const usualLayer: WrittenLayer = { name: "api", place: "over", groups: undefined };

/**
 * The layers that the API writes, from the lowest to the highest: those in the settings, else one of the name `api`,
 * unless a folder of a group has that name.
 */
export function writtenLayers({ layers, groups }: LayerSettings): readonly WrittenLayer[] {
  if (layers !== undefined)
    return layers.map(({ name, place = "over", groups: having }) => ({ name, place, groups: having }));
  return groups?.some(({ folders }) => folders.includes(usualLayer.name)) ? [] : [usualLayer];
}

/** The layers of a group, from the lowest to the highest. */
export function layersOfGroup(settings: LayerSettings, group: string): readonly LayerName[] {
  const folders = settings.groups?.find(({ name }) => name === group)?.folders ?? [wholeFolderLayer];
  const written = writtenLayers(settings).filter(({ groups }) => groups?.includes(group) ?? true);
  const at = (place: WrittenLayer["place"]) => written.filter((one) => one.place === place).map(({ name }) => name);
  return [...clusterLayers(settings), ...at("under"), ...withConfigMaps(settings, folders), ...at("over")];
}

/** The layers of a cluster that all groups have. */
export function clusterLayers({ lowest, configMaps }: LayerSettings): readonly LayerName[] {
  return [...(lowest === undefined ? [] : [lowest]), ...(configMaps === undefined ? [] : [configMaps()])];
}

/** Folders with the layers of their ConfigMaps, over which the files of a folder win. */
export function withConfigMaps({ configMaps }: LayerSettings, folders: readonly LayerName[]): readonly LayerName[] {
  if (configMaps === undefined) return folders;
  return folders.flatMap((folder) => (folder === wholeFolderLayer ? folder : [configMaps(folder), folder]));
}

/** What the API calls a layer of the folder: a path cannot hold the name `.` of the whole folder. */
export function layerInApi(layer: LayerName, folders: readonly LayerName[]): string {
  if (layer !== wholeFolderLayer) return layer;
  return folders.includes("folder") ? "whole-folder" : "folder";
}
