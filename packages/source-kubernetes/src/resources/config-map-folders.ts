import type { Finding } from "@xdskit/api";
import type { ConfigMap } from "../objects/config-map.js";
import type { ObjectFault } from "../objects/object-fault.js";
import { ConfigMapTable, type ConfigMapTableOptions } from "./config-map-table.js";

/** The layer of the ConfigMaps of a folder, for groups to have below that folder's own; undefined: of those of none. */
export function configMapLayer(folder?: string): string {
  return folder === undefined ? "config-maps" : `config-maps/${folder}`;
}

/** How ConfigMaps become resources. */
export interface ConfigMapOptions extends Pick<ConfigMapTableOptions, "read" | "authorities"> {
  /** Whether some group has a layer. */
  readonly hasLayer: (layer: string) => boolean;
}

/** All ConfigMaps that are served: those of each folder fill a layer. */
export class ConfigMapFolders {
  readonly #options: ConfigMapOptions;
  readonly #tables = new Map<string, ConfigMapTable>();
  /** In folders that are forgotten. */
  #pastFaultChanges = 0;

  constructor(options: ConfigMapOptions) {
    this.#options = options;
    this.#tableOf(undefined);
  }

  /** By layer. */
  get tables(): ReadonlyMap<string, ConfigMapTable> {
    return this.#tables;
  }

  /** Some are not served as they are. */
  get hasErrors(): boolean {
    return Array.from(this.#tables.values()).some(({ faults }) => [...faults].some(isError));
  }

  /** How often faults have become others. */
  get faultChanges(): number {
    return Array.from(this.#tables.values()).reduce((sum, { faults }) => sum + faults.changes, this.#pastFaultChanges);
  }

  errors(): Finding[] {
    const faults = Array.from(this.#tables.values()).flatMap((table) => [...table.faults]);
    return faults.filter(isError).flatMap(({ finding }) => finding ?? []);
  }

  /** Undefined: it was not there, or is gone. */
  setConfigMap(key: string, before: ConfigMap | undefined, configMap: ConfigMap | undefined): void {
    if (before !== undefined && (configMap === undefined || configMap.folder !== before.folder))
      this.#tableOf(before.folder).setConfigMap(key, undefined);
    if (configMap !== undefined) this.#tableOf(configMap.folder).setConfigMap(key, configMap);
  }

  /** What was taken is applied: folders that no ConfigMap names any more have nothing in the server. */
  forgetEmpty(): void {
    for (const [layer, { isEmpty, faults }] of this.#tables) {
      if (!isEmpty || layer === configMapLayer()) continue;
      this.#pastFaultChanges += faults.changes;
      this.#tables.delete(layer);
    }
  }

  /** Groups may have other layers. */
  lookAgain(): void {
    for (const table of this.#tables.values()) table.lookAgain();
  }

  #tableOf(folder: string | undefined): ConfigMapTable {
    const layer = configMapLayer(folder);
    const { hasLayer, ...reading } = this.#options;
    const known = this.#tables.get(layer) ?? new ConfigMapTable({ ...reading, isServed: () => hasLayer(layer) });
    this.#tables.set(layer, known);
    return known;
  }
}

function isError({ finding }: ObjectFault): boolean {
  return finding?.severity === "error";
}
