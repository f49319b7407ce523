import { isDeepStrictEqual } from "node:util";
import type { Resource, ResourceType, Steps } from "@xdskit/api";
import type { EndpointSlice } from "../objects/endpoint-slice.js";
import type { PolicyFault } from "../objects/policy.js";
import type { Service } from "../objects/service.js";
import { loadAssignments } from "./load-assignment.js";
import { followedWish } from "./near-first.js";
import { serviceResources } from "./service-resources.js";

/** What has changed of the resources since they were taken last. */
export interface TableChange {
  readonly upsert: readonly Resource[];
  readonly remove: readonly { readonly type: ResourceType; readonly name: string }[];
}

/** Every resource that was made for a Service, by type and name. */
type Made = ReadonlyMap<string, Resource>;

/** Which of a Service must be made anew. */
type Due = "endpoints" | "all";

/**
 * The Services and slices that there are, and the resources that were made of them. A change makes only the resources
 * of its own Service, and content that is equal changes nothing.
 */
export class ServiceTable {
  readonly #services = new Map<string, Service>();
  readonly #faults = new Map<string, readonly PolicyFault[]>();
  #faultChanges = 0;
  /** By Service, and by the key of the slice. */
  readonly #slices = new Map<string, Map<string, EndpointSlice>>();
  readonly #made = new Map<string, Made>();
  #due = new Map<string, Due>();
  /** By type and name: the Service that it was made for. */
  readonly #madeFor = new Map<string, string>();

  get size(): number {
    return this.#services.size;
  }

  /** The annotations that are not used, with the Service of each. */
  *faults(): Iterable<PolicyFault & { readonly service: Service }> {
    for (const [key, faults] of this.#faults) {
      const service = this.#services.get(key);
      if (service !== undefined) for (const fault of faults) yield { ...fault, service };
    }
  }

  /** How often the faults may have become others. */
  get faultChanges(): number {
    return this.#faultChanges;
  }

  /** Something changed since it was taken last. */
  get isDue(): boolean {
    return this.#due.size > 0;
  }

  /** Undefined: it is gone. */
  setService(key: string, service: Service | undefined): void {
    if (service === undefined) this.#services.delete(key);
    else this.#services.set(key, service);
    this.#setFaults(key, service?.faults ?? []);
    this.#due.set(key, "all");
  }

  /** A slice may come to another Service. */
  setSlice(key: string, before: EndpointSlice | undefined, slice: EndpointSlice | undefined): void {
    if (before !== undefined) this.#slicesOf(before).delete(key);
    if (slice !== undefined) this.#slicesOf(slice).set(key, slice);
    for (const one of [before, slice]) {
      if (one === undefined) continue;
      const service = serviceOf(one);
      if (this.#slices.get(service)?.size === 0) this.#slices.delete(service);
      if (!this.#due.has(service)) this.#due.set(service, "endpoints");
    }
  }

  /** The Service, `namespace/name`, that a resource was made for. */
  serviceOf({ type, name }: { readonly type: ResourceType; readonly name: string }): string | undefined {
    return this.#madeFor.get(idOf(type, name));
  }

  /** All that was made. */
  *all(): Iterable<Resource> {
    for (const made of this.#made.values()) yield* made.values();
  }

  /**
   * Makes what is due; of the first ten thousand resources that takes seconds, in which others get a turn. What changes
   * meanwhile is due next time. The removed are those that nothing stands for any more.
   */
  *take(): Steps<TableChange> {
    const upsert: Resource[] = [];
    const remove: { readonly type: ResourceType; readonly name: string }[] = [];
    const all = this.#due;
    this.#due = new Map();
    for (const [key, due] of all) {
      const before = this.#made.get(key) ?? nothing;
      const made = this.#make(key, before, due);
      for (const [id, resource] of made) {
        if (before.get(id)?.version !== resource.version) upsert.push(resource);
        this.#madeFor.set(id, key);
      }
      for (const [id, resource] of before) {
        if (made.has(id)) continue;
        remove.push({ type: resource.type, name: resource.key });
        this.#madeFor.delete(id);
      }
      if (made.size === 0) this.#made.delete(key);
      else this.#made.set(key, made);
      yield;
    }
    return { upsert, remove };
  }

  /** Of a Service of which nothing can be made, which no API server has, stays what was made before. */
  #make(key: string, before: Made, due: Due): Made {
    const service = this.#services.get(key);
    if (service === undefined) return nothing;
    try {
      const slices = [...(this.#slices.get(key)?.values() ?? [])];
      const wish = followedWish(service, slices);
      const assigned = loadAssignments(wish.service, slices);
      const [first = undefined] = assigned;
      const others = [...before.values()].filter(({ type }) => type !== first?.type);
      this.#setFaults(key, [...service.faults, ...wish.faults]);
      return new Map(byKey([...(due === "endpoints" ? others : serviceResources(service)), ...assigned]));
    } catch (error) {
      this.#setFaults(key, [...service.faults, { annotation: "spec", message: (error as Error).message }]);
      return before;
    }
  }

  #setFaults(key: string, faults: readonly PolicyFault[]): void {
    if (isDeepStrictEqual(this.#faults.get(key) ?? [], faults)) return;
    this.#faultChanges += 1;
    if (faults.length > 0) this.#faults.set(key, faults);
    else this.#faults.delete(key);
  }

  #slicesOf(slice: EndpointSlice): Map<string, EndpointSlice> {
    const key = serviceOf(slice);
    const known = this.#slices.get(key) ?? new Map();
    this.#slices.set(key, known);
    return known;
  }
}

const nothing: Made = new Map();

function byKey(resources: readonly Resource[]): readonly (readonly [string, Resource])[] {
  return resources.map((resource) => [idOf(resource.type, resource.key), resource]);
}

function idOf(type: ResourceType, name: string): string {
  return `${type.name} ${name}`;
}

function serviceOf({ namespace, service }: EndpointSlice): string {
  return `${namespace}/${service}`;
}
