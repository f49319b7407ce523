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
import type { ObjectFault } from "../objects/object-fault.js";
import { objectKey } from "../objects/object-shape.js";
import { idOf, type TableChange } from "./made-resources.js";
import { type MadeOfObject, ObjectTable } from "./object-table.js";

/** A ConfigMap, and what its files hold. */
interface ReadConfigMap {
  readonly configMap: ConfigMap;
  readonly resources: readonly PositionedResource[];
  readonly findings: readonly Finding[];
}

/** A resource that a ConfigMap has, or that is served of it. */
interface Claim {
  readonly object: string;
  readonly resource: Resource;
  readonly where: Where;
}

/** How the ConfigMaps of a folder become resources. */
export interface ConfigMapTableOptions {
  readonly read: () => ReadResourcesOptions;
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
 * file of it has an error, or another one has a resource of the same name, what was made of it before stays.
 */
export class ConfigMapTable extends ObjectTable {
  readonly #options: ConfigMapTableOptions;
  /** As they are now; undefined: it is gone. */
  readonly #unread = new Map<string, ConfigMap | undefined>();
  readonly #read = new Map<string, ReadConfigMap>();
  /** What is served of each one. */
  readonly #served = new Map<string, readonly PositionedResource[]>();
  /** By type and key. */
  readonly #claims = new Map<string, readonly Claim[]>();

  constructor(options: ConfigMapTableOptions) {
    super();
    this.#options = options;
  }

  /** It has no ConfigMap, and nothing to be taken. */
  get isEmpty(): boolean {
    return this.#read.size === 0 && this.#unread.size === 0 && !this.isDue;
  }

  /** Undefined: it is gone. */
  setConfigMap(key: string, configMap: ConfigMap | undefined): void {
    this.#unread.set(key, configMap);
    this.changed(key);
  }

  /** Whether groups have the folder may be otherwise. */
  lookAgain(): void {
    for (const key of this.#read.keys()) this.changed(key);
  }

  /** Where a resource is written that is served. */
  whereIs(resource: Parameters<typeof this.made.objectOf>[0]): Where | undefined {
    const id = idOf(resource.type, resource.name);
    const served = this.#served.get(this.made.objectOf(resource) ?? "");
    return served?.find((one) => idOf(one.resource.type, one.resource.key) === id)?.where;
  }

  /** Reads first: who else has a resource must be known before any is made. */
  override *take(): Steps<TableChange> {
    while (this.#unread.size > 0) {
      const [[key, configMap] = ["", undefined]] = this.#unread;
      this.#unread.delete(key);
      this.#readAnew(key, configMap);
      yield;
    }
    return yield* super.take();
  }

  protected make(key: string): MadeOfObject {
    const read = this.#read.get(key);
    if (read === undefined) {
      this.#served.delete(key);
      return { resources: [], faults: [] };
    }
    const { configMap } = read;
    const findings = read.findings.some(isError) ? read.findings : [...read.findings, ...this.#shared(read)];
    const sorted = [...findings.filter(isError), ...findings.filter((one) => !isError(one))];
    const faults = sorted.slice(0, mostFaults).map((finding) => faultOf(configMap, finding));
    if (!this.#options.isServed()) {
      const message = `no group has the folder "${configMap.folder}"`;
      faults.push({ object: nameOf(configMap), reason: "NotServed", field: folderAnnotation, message });
    }
    if (findings.some(isError)) return { resources: undefined, faults };
    this.#served.set(key, read.resources);
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
      for (const other of others) this.changed(other.object);
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
function readFiles(configMap: ConfigMap, { read, authorities }: ConfigMapTableOptions): ReadConfigMap {
  const options = read();
  const files = configMap.files.map(({ name, text, encoding }) =>
    readResources({ path: `${folderOf(configMap)}${name}`, bytes: Buffer.from(text, encoding) }, options),
  );
  const resources = files.flatMap((file) => file.resources);
  const foreign = resources.flatMap(({ resource, where }): Finding | readonly Finding[] => {
    const finding = foreignFinding(resource, authorities());
    return finding === undefined ? [] : { ...finding, ...where };
  });
  return { configMap, resources, findings: [...files.flatMap(({ findings }) => findings), ...foreign] };
}

/** What stands before the name of a file in findings. */
function folderOf(configMap: ConfigMap): string {
  return `ConfigMap ${objectKey(configMap)}/`;
}

function placeOf({ file = "", line }: Where): string {
  return line === undefined ? file : `${file}:${line}`;
}

function isError({ severity }: Finding): boolean {
  return severity === "error";
}

function nameOf({ namespace, name, uid }: ConfigMap): ObjectFault["object"] {
  return { apiVersion: "v1", kind: "ConfigMap", namespace, name, uid };
}

/** For the owner: `edge.yaml:3 route_config.name`. */
function faultOf(configMap: ConfigMap, finding: Finding): ObjectFault {
  const { field = "", message } = finding;
  const place = placeOf(finding).slice(folderOf(configMap).length);
  return {
    object: nameOf(configMap),
    reason: "NotServed",
    field: field === "" ? place : `${place} ${field}`,
    message,
    finding,
  };
}
