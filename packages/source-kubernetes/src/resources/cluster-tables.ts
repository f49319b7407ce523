import type { ReadResourcesOptions, Resource, Steps, Where } from "@xdskit/api";
import type { Kernel, LayerChange, LayerUpdate } from "@xdskit/server";
import type { ObjectFault } from "../objects/object-fault.js";
import { RouteTable } from "./attached/route-table.js";
import { ConfigMapFolders } from "./config-map-folders.js";
import type { CheckChange } from "./config-map-table.js";
import { updateOf } from "./made-resources.js";
import type { ObjectTable } from "./object-table.js";
import { SecretTable } from "./secret-table.js";
import { ServiceTable } from "./service-table.js";

/** What is made of a cluster. */
export interface ClusterTablesOptions {
  /** Of all but ConfigMaps. */
  readonly layer: string;
  /** Whether only some Services are known. */
  readonly isPartial: boolean;
  /** How files in ConfigMaps are read; undefined: there are none. */
  readonly files: (() => ReadResourcesOptions) | undefined;
  /** Something more is due, later than it came. */
  readonly readLater: () => void;
}

/** The objects of a cluster, and the resources that were made of them, by layers. */
export class ClusterTables {
  readonly routes: RouteTable;
  readonly services: ServiceTable;
  readonly secrets = new SecretTable();
  /** Undefined: none are served. */
  readonly configMaps: ConfigMapFolders | undefined;
  readonly #layer: string;
  #server: Pick<Kernel, "live" | "authorities"> | undefined;

  constructor({ layer, isPartial, files, readLater }: ClusterTablesOptions) {
    this.#layer = layer;
    this.routes = new RouteTable({ isPartial });
    this.services = new ServiceTable(this.routes);
    if (files === undefined) return;
    const authorities = () => this.#server?.authorities;
    this.configMaps = new ConfigMapFolders({ read: files, readLater, authorities, hasLayer: (one) => this.#has(one) });
  }

  /** Something changed since it was taken last. */
  get isDue(): boolean {
    return (
      this.configMaps?.isDue === true || [...this.#layers()].some(([, tables]) => tables.some(({ isDue }) => isDue))
    );
  }

  /** How often faults have become others. */
  get faultChanges(): number {
    const changes = [this.services, this.secrets, this.routes].map(({ faults }) => faults.changes);
    return changes.reduce((sum, each) => sum + each, this.configMaps?.faultChanges ?? 0);
  }

  *faults(): Iterable<ObjectFault> {
    const { services, secrets, routes, configMaps } = this;
    for (const { faults } of [services, secrets, routes, ...(configMaps?.tables.values() ?? [])]) yield* faults;
  }

  /** Makes what is due. `check`: of ConfigMaps. What the cluster itself has is a fact: no judge can refuse it. */
  *take(check: CheckChange<readonly LayerUpdate[]>): Steps<readonly LayerUpdate[]> {
    const changes = [yield* this.services.take(), yield* this.secrets.take()];
    const [upsert, remove] = [changes.flatMap((one) => one.upsert), changes.flatMap((one) => one.remove)];
    const own = updateOf(this.#layer, { upsert, remove });
    if (this.configMaps === undefined) return own;
    const ofMaps = yield* this.configMaps.take(check);
    // Only afterwards: the server does not have them yet.
    this.configMaps.othersChanged([...upsert, ...remove]);
    return [...own, ...ofMaps];
  }

  /** The server has these changes. */
  published(changes: readonly LayerChange[]): void {
    const own = new Set(Array.from(this.#layers(), ([layer]) => layer));
    const others = changes.filter(({ layer }) => !own.has(layer));
    this.configMaps?.othersChanged(others.flatMap(({ upserted, removed }) => [...upserted, ...removed]));
  }

  /** All that was made. */
  whole(): readonly LayerUpdate[] {
    return Array.from(this.#layers(), ([layer, tables]) => {
      return { layer, kind: "replace", upsert: tables.flatMap(({ made }) => [...made]) };
    });
  }

  /** The object, or the line in its file. */
  whereIs(layer: string, { type, key: name }: Pick<Resource, "type" | "key">): Where | undefined {
    const configMaps = this.configMaps?.tables.get(layer);
    if (configMaps !== undefined) return configMaps.whereIs({ type, name });
    if (layer !== this.#layer) return undefined;
    const service = this.services.made.objectOf({ type, name });
    if (service !== undefined) return { file: `Service ${service}` };
    const secret = this.secrets.made.objectOf({ type, name });
    return secret === undefined ? undefined : { file: `Secret ${secret}` };
  }

  /** Takes the server: its authorities, and its groups as they are each time. */
  served(server: Pick<Kernel, "live" | "authorities">): void {
    this.#server = server;
  }

  /** The tables, by the layers that they fill. */
  *#layers(): Iterable<readonly [layer: string, tables: readonly ObjectTable[]]> {
    yield [this.#layer, [this.services, this.secrets]];
    for (const [layer, table] of this.configMaps?.tables ?? []) yield [layer, [table]];
  }

  /** Whether some group has a layer, as far as that is known. */
  #has(layer: string): boolean {
    const groups = this.#server?.live.groups;
    return !Array.isArray(groups) || groups.some(({ layers }) => layers.includes(layer));
  }
}
