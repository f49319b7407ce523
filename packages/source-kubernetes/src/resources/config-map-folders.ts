import { type Clock, type Finding, type Steps, systemClock } from "@xdskit/api";
import type { LayerUpdate } from "@xdskit/server";
import type { ConfigMap } from "../objects/config-map.js";
import type { ObjectFault } from "../objects/object-fault.js";
import { type CheckChange, ConfigMapTable, type ConfigMapTableOptions } from "./config-map-table.js";
import { LongFiles } from "./long-files.js";
import { type RemovedResource, updateOf } from "./made-resources.js";
import { NextLook } from "./next-look.js";
import { OfferedChanges } from "./offered-changes.js";

/** The layer of the ConfigMaps of a folder, for groups to have below that folder's own; undefined: of those of none. */
export function configMapLayer(folder?: string): string {
  return folder === undefined ? "config-maps" : `config-maps/${folder}`;
}

/** How ConfigMaps become resources. */
export interface ConfigMapOptions extends Pick<ConfigMapTableOptions, "read" | "readLater" | "authorities"> {
  /** Whether some group has a layer. */
  readonly hasLayer: (layer: string) => boolean;
  /** Default: the system's. */
  readonly clock?: Clock;
}

/** All ConfigMaps that are served: those of each folder fill a layer. */
export class ConfigMapFolders {
  readonly #options: ConfigMapOptions;
  readonly #long: LongFiles;
  /** At those that the server refused. */
  readonly #nextLook: NextLook;
  readonly #tables = new Map<string, ConfigMapTable>();
  /** In folders that are forgotten. */
  #pastFaultChanges = 0;

  constructor(options: ConfigMapOptions) {
    this.#options = options;
    this.#long = new LongFiles(options.read);
    this.#nextLook = new NextLook(options.clock ?? systemClock, options.readLater);
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

  /** Files are being read that take long. */
  get isReading(): boolean {
    return this.#long.isReading;
  }

  /** It is time for those that the server refused. */
  get isDue(): boolean {
    return this.#nextLook.isDue;
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
    this.#wantLook();
  }

  /**
   * These have changed, in the server or soon: what a refused change waits for may be there. For load assignments none
   * waits: no judge asks about them, and those of a cluster change all the time.
   */
  othersChanged(some: readonly Pick<RemovedResource, "type">[]): void {
    if (some.some(({ type }) => type.name !== "endpoint")) this.#wantLook();
  }

  /** While none is refused there is nothing to look at. */
  #wantLook(): void {
    if (this.#refused().size > 0) this.#nextLook.want();
  }

  #refused(): ReadonlySet<string> {
    return new Set(
      Array.from(this.#tables).flatMap(([layer, { refusedKeys }]) => Array.from(refusedKeys, (key) => layer + key)),
    );
  }

  /**
   * Makes what is due, as changes of layers that the server takes. If it would refuse all of it together, those of the
   * ConfigMaps are in that it takes without the others; what was served of the rest stays.
   */
  *take(check: CheckChange<readonly LayerUpdate[]>): Steps<readonly LayerUpdate[]> {
    const refused = this.#refused();
    const again = this.#nextLook.take();
    const taken = yield* this.#taken(again, check);
    const still = this.#refused();
    if ([...still].some((one) => !refused.has(one))) this.#nextLook.startAnew();
    const isInVain = [...refused].every((one) => still.has(one));
    if (again) this.#nextLook.ended(isInVain);
    // Others may wait for these.
    if (taken.length > 0 && !(again && isInVain)) this.#wantLook();
    return taken;
  }

  *#taken(again: boolean, check: CheckChange<readonly LayerUpdate[]>): Steps<readonly LayerUpdate[]> {
    const taken: LayerUpdate[] = [];
    for (const [layer, table] of [...this.#tables]) taken.push(...updateOf(layer, yield* table.take(again)));
    if (taken.length > 0 && check(taken).length > 0) return yield* this.#withoutRefused(check);
    for (const table of this.#tables.values()) table.accept();
    return taken;
  }

  /** Those that were refused before go last, so that they hold up nobody who comes with another one. */
  *#withoutRefused(check: CheckChange<readonly LayerUpdate[]>): Steps<readonly LayerUpdate[]> {
    const all = Array.from(this.#tables).flatMap(([layer, table]) =>
      table.takeBack().map((taken) => ({ layer, table, taken, isNew: !table.isRefused(taken) })),
    );
    const offers = new OfferedChanges(check);
    for (const isNew of [true, false]) yield* offers.take(all.filter((one) => one.isNew === isNew));
    yield* offers.takeMore();
    yield;
    return offers.good();
  }

  /** What was taken is applied: folders that no ConfigMap names any more hold nothing. Returns their layers. */
  forgetEmpty(): readonly string[] {
    const empty = Array.from(this.#tables).filter(([layer, { isEmpty }]) => isEmpty && layer !== configMapLayer());
    for (const [layer, { faults }] of empty) {
      this.#pastFaultChanges += faults.changes;
      this.#tables.delete(layer);
    }
    return empty.map(([layer]) => layer);
  }

  /** Groups may have other layers. */
  lookAgain(): void {
    for (const table of this.#tables.values()) table.lookAgain();
    this.#wantLook();
  }

  close(): void {
    this.#long.close();
    this.#nextLook.close();
  }

  #tableOf(folder: string | undefined): ConfigMapTable {
    const layer = configMapLayer(folder);
    const { hasLayer, ...reading } = this.#options;
    const isServed = () => hasLayer(layer);
    const known = this.#tables.get(layer) ?? new ConfigMapTable({ ...reading, long: this.#long, isServed });
    this.#tables.set(layer, known);
    return known;
  }
}

function isError({ finding }: ObjectFault): boolean {
  return finding?.severity === "error";
}
