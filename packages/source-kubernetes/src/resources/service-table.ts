import type { Resource, Steps } from "@xdskit/api";
import type { EndpointSlice } from "../objects/endpoint-slice.js";
import type { ObjectFault } from "../objects/object-fault.js";
import type { PolicyFault } from "../objects/policy.js";
import type { Service } from "../objects/service.js";
import { RouteTable } from "./attached/route-table.js";
import { loadAssignments } from "./load-assignment.js";
import { MadeResources, type OpenChange, type TableChange } from "./made-resources.js";
import { followedWish } from "./near-first.js";
import { ObjectFaults } from "./object-faults.js";
import { serviceResources } from "./service-resources.js";

const noRoutes: ReturnType<RouteTable["attach"]> = new Map();

/** Which of a Service must be made anew. */
type Due = "endpoints" | "all";

/**
 * The Services and slices that there are, and the resources that were made of them. A change makes only the resources
 * of its own Service, and content that is equal changes nothing.
 */
export class ServiceTable {
  /** Whoever changes something of it says here which Services that concerns. */
  readonly #routes: RouteTable;
  readonly #services = new Map<string, Service>();
  /** By Service, and by the key of the slice. */
  readonly #slices = new Map<string, Map<string, EndpointSlice>>();
  /** By Service. */
  readonly made = new MadeResources();
  /** The annotations, and the parts of a Service, that are not followed. */
  readonly faults = new ObjectFaults();
  /** The Services of which nothing can be made. */
  readonly #unmade = new Set<string>();
  #due = new Map<string, Due>();

  constructor(routes = new RouteTable()) {
    this.#routes = routes;
  }

  get size(): number {
    return this.#services.size;
  }

  /** Something changed since it was taken last. */
  get isDue(): boolean {
    return this.#due.size > 0;
  }

  /** Undefined: it is gone. */
  setService(key: string, service: Service | undefined): void {
    if (service === undefined) this.#services.delete(key);
    else this.#services.set(key, service);
    this.faults.set(key, service === undefined ? [] : faultsOf(service, service.faults));
    this.touch(key, ...this.#routes.parentsNear(key));
  }

  /** Routes of these Services have changed. Some may not be there. */
  touch(...services: readonly string[]): void {
    for (const key of services) this.#due.set(key, "all");
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

  /**
   * Makes what is due; of the first ten thousand resources that takes seconds, in which others get a turn. What changes
   * meanwhile is due next time. The removed are those that nothing stands for any more.
   */
  *take(): Steps<TableChange> {
    const change: OpenChange = { upsert: [], remove: [] };
    const all = this.#due;
    this.#due = new Map();
    for (const [key, due] of all) {
      this.made.replace(key, this.#make(key, due), change);
      yield;
    }
    return change;
  }

  /** Of a Service of which nothing can be made, which no API server has, stays what was made before. */
  #make(key: string, due: Due): readonly Resource[] {
    const service = this.#services.get(key);
    const wasMade = !this.#unmade.delete(key);
    const isWhole = due === "all" || !wasMade;
    const routes = isWhole ? this.#routes.attach(key, service, (name) => this.#services.get(name)) : noRoutes;
    if (service === undefined) return [];
    const before = this.made.of(key);
    try {
      const slices = [...(this.#slices.get(key)?.values() ?? [])];
      const wish = followedWish(service, slices);
      const assigned = loadAssignments(wish.service, slices);
      const names = new Set(assigned.map(({ type, name }) => `${type.name} ${name}`));
      const others = before.filter(({ type, name }) => !names.has(`${type.name} ${name}`));
      this.faults.set(key, faultsOf(service, [...service.faults, ...wish.faults]));
      return [...(isWhole ? serviceResources(service, routes) : others), ...assigned];
    } catch (error) {
      this.#unmade.add(key);
      const fault = { annotation: "spec", message: (error as Error).message };
      this.faults.set(key, faultsOf(service, [...service.faults, fault]));
      return before;
    }
  }

  #slicesOf(slice: EndpointSlice): Map<string, EndpointSlice> {
    const key = serviceOf(slice);
    const known = this.#slices.get(key) ?? new Map();
    this.#slices.set(key, known);
    return known;
  }
}

function faultsOf({ namespace, name, uid }: Service, faults: readonly PolicyFault[]): readonly ObjectFault[] {
  const object = { apiVersion: "v1", kind: "Service", namespace, name, uid };
  return faults.map(({ annotation: field, message }) => ({ object, reason: reasonOf(field), field, message }));
}

/** A word for what is not followed: an annotation, a field, or all of the Service. */
function reasonOf(field: string): string {
  if (field === "spec") return "NotServed";
  return field.startsWith("spec.") ? "NotFollowed" : "WrongAnnotation";
}

function serviceOf({ namespace, service }: EndpointSlice): string {
  return `${namespace}/${service}`;
}
