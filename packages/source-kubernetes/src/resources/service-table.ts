import type { EndpointSlice } from "../objects/endpoint-slice.js";
import type { ObjectFault, PolicyFault } from "../objects/object-fault.js";
import { objectKey } from "../objects/object-shape.js";
import type { KubernetesService } from "../objects/service.js";
import { RouteTable } from "./attached/route-table.js";
import { loadAssignments } from "./load-assignment.js";
import { followedWish } from "./near-first.js";
import { type MadeOfObject, ObjectTable } from "./object-table.js";
import { serviceResources } from "./service-resources.js";

const noRoutes: ReturnType<RouteTable["attach"]> = new Map();

/** The Services and slices that there are, and the resources that were made of them. Equal content changes nothing. */
export class ServiceTable extends ObjectTable {
  /** Whoever changes something of it says here which Services that concerns. */
  readonly #routes: RouteTable;
  readonly #services = new Map<string, KubernetesService>();
  /** By Service, and by the key of the slice. */
  readonly #slices = new Map<string, Map<string, EndpointSlice>>();
  /** The Services of which all must be made: another one, or nothing could be made before. Of others the endpoints. */
  readonly #whole = new Set<string>();

  constructor(routes = new RouteTable()) {
    super();
    this.#routes = routes;
  }

  get size(): number {
    return this.#services.size;
  }

  /** Undefined: it is gone. */
  setService(key: string, service: KubernetesService | undefined): void {
    if (service === undefined) this.#services.delete(key);
    else this.#services.set(key, service);
    this.touch(key, ...this.#routes.parentsNear(key));
  }

  /** Routes of these Services have changed. Some may not be there. */
  touch(...services: readonly string[]): void {
    for (const key of services) {
      this.#whole.add(key);
      this.markDue(key);
    }
  }

  /** A slice may come to another Service. */
  setSlice(key: string, before: EndpointSlice | undefined, slice: EndpointSlice | undefined): void {
    if (before !== undefined) this.#slicesOf(before).delete(key);
    if (slice !== undefined) this.#slicesOf(slice).set(key, slice);
    for (const one of [before, slice]) {
      if (one === undefined) continue;
      const service = serviceOf(one);
      if (this.#slices.get(service)?.size === 0) this.#slices.delete(service);
      this.markDue(service);
    }
  }

  /** Of a Service of which nothing can be made, which no API server has, stays what was made before. */
  protected make(key: string): MadeOfObject {
    const service = this.#services.get(key);
    const isWhole = this.#whole.delete(key);
    const routes = isWhole ? this.#routes.attach(key, service, (name) => this.#services.get(name)) : noRoutes;
    if (service === undefined) return { resources: [], faults: [] };
    try {
      const slices = [...(this.#slices.get(key)?.values() ?? [])];
      const wish = followedWish(service, slices);
      const assigned = loadAssignments(wish.service, slices);
      const names = new Set(assigned.map(({ type, name }) => `${type.name} ${name}`));
      const others = () => this.made.of(key).filter(({ type, name }) => !names.has(`${type.name} ${name}`));
      const resources = [...(isWhole ? serviceResources(service, routes) : others()), ...assigned];
      return { resources, faults: faultsOf(service, [...service.faults, ...wish.faults]) };
    } catch (error) {
      this.#whole.add(key);
      const fault = { annotation: "spec", message: (error as Error).message };
      return { resources: undefined, faults: faultsOf(service, [...service.faults, fault]) };
    }
  }

  #slicesOf(slice: EndpointSlice): Map<string, EndpointSlice> {
    const key = serviceOf(slice);
    const known = this.#slices.get(key) ?? new Map();
    this.#slices.set(key, known);
    return known;
  }
}

function faultsOf({ namespace, name, uid }: KubernetesService, faults: readonly PolicyFault[]): readonly ObjectFault[] {
  const object = { apiVersion: "v1", kind: "Service", namespace, name, uid };
  return faults.map(({ annotation: field, message }) => ({ object, reason: reasonOf(field), field, message }));
}

/** A word for what is not followed: an annotation, a field, or all of the Service. */
function reasonOf(field: string): string {
  if (field === "spec") return "NotServed";
  return field.startsWith("spec.") ? "NotFollowed" : "WrongAnnotation";
}

function serviceOf({ namespace, service }: EndpointSlice): string {
  return objectKey({ namespace, name: service });
}
