import {
  type Finding,
  listNames,
  type PositionedResource,
  type ReadResourcesOptions,
  type Resource,
  readResources,
  type Steps,
  type Where,
} from "@xdskit/api";
import { foreignFinding } from "@xdskit/server";
import { type ConfigMap, folderAnnotation } from "../objects/config-map.js";
import { type ObjectFault, textOfObject } from "../objects/object-fault.js";
import { bytesOf, type LongFiles, shownPath } from "./long-files.js";
import { idOf, type OpenChange, type TableChange } from "./made-resources.js";
import { type MadeOfObject, ObjectTable } from "./object-table.js";

/** A ConfigMap, and what its files hold. */
interface ReadConfigMap {
  readonly configMap: ConfigMap;
  readonly resources: readonly PositionedResource[];
  readonly findings: readonly Finding[];
}

/** A resource that a ConfigMap has, or that is served of it. */
interface ConfigMapClaim {
  readonly object: string;
  readonly resource: Resource;
  readonly where: Where;
}

/** What was made of a ConfigMap that was taken. */
export interface TakenConfigMap {
  readonly key: string;
  readonly made: MadeOfObject & { readonly resources: readonly Resource[] };
  /** What its files have: with lines. */
  readonly read: readonly PositionedResource[];
  /** What was served of it before. */
  readonly served: readonly PositionedResource[];
  /** See `MadeResources.replace`. */
  readonly back: () => void;
}

/** The findings for which the server would refuse a change; empty: none. */
export type CheckChange<Change> = (change: Change) => readonly Finding[];

/** How the ConfigMaps of a folder become resources. */
export interface ConfigMapTableOptions {
  readonly read: () => ReadResourcesOptions;
  readonly long: LongFiles;
  /** A file that took long was read. */
  readonly readLater: () => void;
  /** Those that the server serves; undefined: any. */
  readonly authorities: () => ReadonlySet<string> | undefined;
  /** Whether some group has the folder. */
  readonly isServed: () => boolean;
}

/** Of one ConfigMap; a person mends these first. */
const mostFaults = 10;
/** Of those who have one name: many may have it, and each is told. */
const mostOthers = 3;

/**
 * The ConfigMaps of one folder, and the resources of their files. A ConfigMap is applied whole or not at all: while a
 * file of it has an error, another one has a resource of the same name, or the server would refuse its change, what was
 * made of it before stays.
 */
export class ConfigMapTable extends ObjectTable {
  readonly #options: ConfigMapTableOptions;
  /** As they are now; undefined: it is gone. */
  readonly #unread = new Map<string, ConfigMap | undefined>();
  readonly #read = new Map<string, ReadConfigMap>();
  /** What is served of each one. */
  readonly #served = new Map<string, readonly PositionedResource[]>();
  /** By type and key. */
  readonly #claims = new Map<string, readonly ConfigMapClaim[]>();
  /** Those that were taken last. */
  readonly #taken = new Map<string, TakenConfigMap>();
  /** Those whose change the server refuses, and why. */
  readonly #refused = new Map<string, readonly ObjectFault[]>();

  constructor(options: ConfigMapTableOptions) {
    super();
    this.#options = options;
  }

  /** It has no ConfigMap, and nothing to be taken. */
  get isEmpty(): boolean {
    return this.#read.size + this.#unread.size + this.#refused.size === 0 && !this.isDue;
  }

  /** Those whose change the server refuses. */
  get refusedKeys(): Iterable<string> {
    return this.#refused.keys();
  }

  /** Undefined: it is gone. */
  setConfigMap(key: string, configMap: ConfigMap | undefined): void {
    this.#unread.set(key, configMap);
    this.markDue(key);
    if (configMap === undefined) return;
    const { long, readLater } = this.#options;
    long.begin(configMap, () => {
      this.markDue(key);
      readLater();
    });
  }

  /** Whether groups have the folder may be otherwise. */
  lookAgain(): void {
    for (const key of this.#read.keys()) this.markDue(key);
  }

  /** Where a resource is written that is served. */
  whereIs(resource: Parameters<typeof this.made.objectOf>[0]): Where | undefined {
    const id = idOf(resource.type, resource.name);
    const served = this.#served.get(this.made.objectOf(resource) ?? "");
    return served?.find((one) => idOf(one.resource.type, one.resource.key) === id)?.where;
  }

  /**
   * Reads first: who else has a resource must be known before any is made. `again`: also those that the server refused.
   * Then call `accept`, or `takeBack`.
   */
  override *take(again = false): Steps<TableChange> {
    for (const [key, configMap] of this.#unread) {
      if (configMap !== undefined && this.#options.long.has(configMap)) continue;
      this.#unread.delete(key);
      this.#readAnew(key, configMap);
      yield;
    }
    this.#taken.clear();
    if (again) for (const key of this.#refused.keys()) this.markDue(key);
    return yield* super.take();
  }

  /** The server takes all that was taken. */
  accept(): void {
    for (const taken of this.#taken.values()) if (this.isRefused(taken)) this.accepted(taken);
  }

  /** What was taken counts as never made. Returns the ConfigMaps. */
  takeBack(): readonly TakenConfigMap[] {
    const all = [...this.#taken.values()];
    for (const taken of all.toReversed()) this.back(taken);
    return all;
  }

  /** The server refused it before. */
  isRefused({ key }: TakenConfigMap): boolean {
    return this.#refused.has(key);
  }

  /** Makes one that was taken back, perhaps with others, to ask the server. Take them `back` in reverse. */
  offer(taken: TakenConfigMap): { readonly taken: TakenConfigMap; readonly change: TableChange } {
    const { key, made, read } = taken;
    const change: OpenChange = { upsert: [], remove: [] };
    const back = this.made.replace(key, made.resources, change);
    this.#served.set(key, read);
    return { taken: { ...taken, back }, change };
  }

  back({ key, served, back }: TakenConfigMap): void {
    back();
    this.#served.set(key, served);
  }

  accepted({ key, made }: TakenConfigMap): void {
    this.#refused.delete(key);
    this.faults.set(key, made.faults);
  }

  /** One that was accepted counts as never made, and is due. */
  undo(taken: TakenConfigMap): void {
    this.back(taken);
    this.markDue(taken.key);
  }

  refused({ key, made }: TakenConfigMap, findings: readonly Finding[]): void {
    this.#refused.set(
      key,
      findings.map((finding) => refusedFault(this.#nameOf(key), finding)),
    );
    this.faults.set(key, this.#withRefusal(key, made.faults));
  }

  #withRefusal(key: string, faults: readonly ObjectFault[]): readonly ObjectFault[] {
    return [...faults, ...(this.#refused.get(key) ?? [])].slice(0, mostFaults);
  }

  /** Also of one that is gone. */
  #nameOf(key: string): ObjectFault["object"] {
    const [namespace = "", name = ""] = key.split("/");
    return nameOf(this.#read.get(key)?.configMap ?? { namespace, name, uid: undefined });
  }

  /** A refusal that was said is said until the server takes the change. */
  protected make(key: string): MadeOfObject {
    const { resources, faults } = this.#make(key);
    if (resources === undefined) {
      this.#refused.delete(key);
      return { resources, faults };
    }
    const read = this.#read.get(key)?.resources ?? [];
    const served = this.#served.get(key) ?? [];
    this.#taken.set(key, { key, made: { resources, faults }, read, served, back: () => {} });
    this.#served.set(key, read);
    return { resources, faults: this.#withRefusal(key, faults) };
  }

  protected override took(key: string, back: () => void): void {
    const taken = this.#taken.get(key);
    if (taken !== undefined) this.#taken.set(key, { ...taken, back });
  }

  #make(key: string): MadeOfObject {
    const read = this.#read.get(key);
    if (read === undefined) return { resources: [], faults: [] };
    const { configMap } = read;
    const findings = read.findings.some(isError) ? read.findings : [...read.findings, ...this.#shared(read)];
    const sorted = [...findings.filter(isError), ...findings.filter((one) => !isError(one))];
    const faults = sorted.slice(0, mostFaults).map((finding) => faultOf(configMap, finding));
    if (!this.#options.isServed()) {
      const message = `no group has the folder "${configMap.folder}"`;
      faults.push({ object: nameOf(configMap), reason: "NotServed", field: folderAnnotation, message });
    }
    if (findings.some(isError)) return { resources: undefined, faults };
    return { resources: read.resources.map(({ resource }) => resource), faults };
  }

  #readAnew(key: string, configMap: ConfigMap | undefined): void {
    this.#setClaims(key, false);
    if (configMap === undefined) this.#read.delete(key);
    else this.#read.set(key, readFiles(configMap, this.#options));
    this.#setClaims(key, true);
  }

  /**
   * What a ConfigMap holds, and what is served of it while a file has an error: nobody knows what that one holds. While
   * only a name is double, what its files name no more is free, so that two ConfigMaps can change places.
   */
  #claimed(key: string): readonly PositionedResource[] {
    const read = this.#read.get(key);
    return read?.findings.some(isError) === true ? (this.#served.get(key) ?? []) : (read?.resources ?? []);
  }

  /** What a ConfigMap claims is claimed from now on, or no more. Those who have the same are made anew. */
  #setClaims(object: string, areThere: boolean): void {
    for (const { resource, where } of this.#claimed(object)) {
      const id = idOf(resource.type, resource.key);
      const others = (this.#claims.get(id) ?? []).filter((one) => one.resource !== resource);
      const all = areThere ? [...others, { object, resource, where }] : others;
      if (all.length > 0) this.#claims.set(id, all);
      else this.#claims.delete(id);
      for (const other of others) this.markDue(other.object);
    }
  }

  /** As in a folder, none of several with one name comes first. */
  #shared({ resources }: ReadConfigMap): readonly Finding[] {
    return resources.flatMap(({ resource, where }): Finding[] => {
      const claims = this.#claims.get(idOf(resource.type, resource.key)) ?? [];
      const others = claims.filter((one) => one.resource !== resource);
      if (others.length === 0) return [];
      const places = others.slice(0, mostOthers).map((one) => placeOf(one.where));
      const message = `the same name is also in ${listNames(places, mostOthers, others.length)}`;
      const named = { type: resource.type.name, resource: resource.name };
      return [{ code: "XDSKIT_DUPLICATE_RESOURCE", severity: "error", message, ...where, ...named }];
    });
  }
}

/** The server would refuse a name of another authority with all that is applied together with it. */
function readFiles(configMap: ConfigMap, { read, long, authorities }: ConfigMapTableOptions): ReadConfigMap {
  const options = read();
  const files = configMap.files.map(
    (file) => long.of(file) ?? readResources({ path: shownPath(configMap, file), bytes: bytesOf(file) }, options),
  );
  const resources = files.flatMap((file) => file.resources);
  const foreign = resources.flatMap(({ resource, where }): Finding | readonly Finding[] => {
    const finding = foreignFinding(resource, authorities());
    return finding === undefined ? [] : { ...finding, ...where };
  });
  return { configMap, resources, findings: [...files.flatMap(({ findings }) => findings), ...foreign] };
}

function placeOf({ file = "", line }: Where): string {
  return line === undefined ? file : `${file}:${line}`;
}

function isError({ severity }: Finding): boolean {
  return severity === "error";
}

function nameOf({ namespace, name, uid }: Omit<ConfigMap, "folder" | "files">): ObjectFault["object"] {
  return { apiVersion: "v1", kind: "ConfigMap", namespace, name, uid };
}

/** For the owner: `edge.yaml:3 route_config.name`. */
function faultOf(configMap: ConfigMap, finding: Finding): ObjectFault {
  const { field = "", message } = finding;
  const place = placeOf(finding).slice(shownPath(configMap, { name: "" }).length);
  return {
    object: nameOf(configMap),
    reason: "NotServed",
    field: field === "" ? place : `${place} ${field}`,
    message,
    finding,
  };
}

/** The server refuses what an object has: what is wrong may stand in another one. */
function refusedFault(object: ObjectFault["object"], finding: Finding): ObjectFault {
  const message = `${finding.message}; ${textOfObject(object)} counts as it was before`;
  return { object, reason: "NotServed", field: placeOf(finding), message, finding: { ...finding, message } };
}
