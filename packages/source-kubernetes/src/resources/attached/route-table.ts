import { isDeepStrictEqual } from "node:util";
import type { RouteOption } from "@xdskit/api/builders";
import { gatewayApi, type MeshRoute, type RouteBackend } from "../../objects/mesh-route.js";
import { textOfObject } from "../../objects/object-fault.js";
import { objectKey } from "../../objects/object-shape.js";
import type { ReferenceGrant } from "../../objects/reference-grant.js";
import type { KubernetesService } from "../../objects/service.js";
import { ObjectFaults } from "../object-faults.js";
import { type AttachedVerdict, attachRoutes, verdict } from "./attach.js";
import { type KnownBackends, resolveRoute } from "./resolved-route.js";
import { isBad, type ParentVerdict, rejectedType, type WantedStatus } from "./route-status.js";

/** The options of a table of routes. */
export interface RouteTableOptions {
  /** Whether only some Services are known: one that is not may be another server's. */
  readonly isPartial?: boolean | undefined;
}

/** A parent that another server may have. */
interface Unjudged extends ParentVerdict {
  readonly conditions: undefined;
}

/** The routes of the Gateway API whose parents are Services, and what is to be said in their status. */
export class RouteTable {
  /** What is wrong with routes. */
  readonly faults = new ObjectFaults();
  readonly #isPartial: boolean;
  readonly #routes = new Map<string, MeshRoute>();
  readonly #grants = new Map<string, ReferenceGrant>();
  /** By a Service: the routes that name it, as a parent or as a backend. */
  readonly #naming = new Map<string, Set<string>>();
  /** By the route, and by the Service that is the parent. */
  readonly #verdicts = new Map<string, Map<string, readonly (AttachedVerdict | Unjudged)[]>>();
  /** The words of a client, by the name of what it rejects. */
  #rejections: ReadonlyMap<string, { readonly service: string; readonly words: string }> = new Map();
  /** The routes whose status may be another one since it was taken last. */
  readonly #changed = new Set<string>();

  constructor({ isPartial = false }: RouteTableOptions = {}) {
    this.#isPartial = isPartial;
  }

  /** Undefined: it is gone. Returns the parents that it concerns. */
  setRoute(key: string, route: MeshRoute | undefined): readonly string[] {
    const before = this.#routes.get(key);
    // Also its status is an object's content.
    if (isDeepStrictEqual(before, route)) return [];
    for (const service of namedBy(before)) {
      this.#naming.get(service)?.delete(key);
      if (this.#naming.get(service)?.size === 0) this.#naming.delete(service);
    }
    for (const service of namedBy(route)) this.#naming.set(service, (this.#naming.get(service) ?? new Set()).add(key));
    if (route === undefined) this.#routes.delete(key);
    else this.#routes.set(key, route);
    this.#verdicts.delete(key);
    this.#changed.add(key);
    return [...parentsOf(before), ...parentsOf(route)];
  }

  /** Undefined: it is gone. Returns the parents that it may concern. */
  setGrant(key: string, grant: ReferenceGrant | undefined): readonly string[] {
    const namespaces = [this.#grants.get(key)?.namespace, grant?.namespace];
    if (grant === undefined) this.#grants.delete(key);
    else this.#grants.set(key, grant);
    return [...this.#routes.values()]
      .filter(({ namespace: own, rules }) =>
        rules.some(({ backends }) => backends.some(({ namespace: of }) => of !== own && namespaces.includes(of))),
      )
      .flatMap(parentsOf);
  }

  /** The parents that a change of a Service concerns. */
  parentsNear(service: string): readonly string[] {
    return [...(this.#naming.get(service) ?? [])].flatMap((key) => parentsOf(this.#routes.get(key)));
  }

  /** What clients reject of what is served, with their words, by the names of ports. */
  setRejections(rejections: ReadonlyMap<string, { readonly service: string; readonly words: string }>): void {
    const before = this.#rejections;
    this.#rejections = rejections;
    for (const port of new Set([...before.keys(), ...rejections.keys()])) {
      const { service, words } = rejections.get(port) ?? before.get(port) ?? {};
      if (service === undefined || (words === before.get(port)?.words && rejections.has(port))) continue;
      for (const route of this.#ofParent(service)) this.#changed.add(textOfObject(route));
    }
  }

  /** The routes of a Service, by its ports. A port without an entry has none. */
  attach(
    key: string,
    service: KubernetesService | undefined,
    find: KnownBackends["service"],
  ): ReadonlyMap<number, readonly RouteOption[]> {
    const all = this.#ofParent(key);
    const known: KnownBackends = { service: find, isGranted: (route, backend) => this.#isGranted(route, backend) };
    const resolved = all.map((route) => resolveRoute(route, known));
    const { ports, verdicts } = attachRoutes({ key, service }, resolved);
    for (const route of all) {
      const own = verdicts.filter((one) => one.route === route);
      const isJudged = service !== undefined || !this.#isPartial;
      const said = isJudged ? own : own.map(({ parentRef }) => ({ parentRef, conditions: undefined }));
      this.#verdicts.set(textOfObject(route), (this.#verdicts.get(textOfObject(route)) ?? new Map()).set(key, said));
      this.#changed.add(textOfObject(route));
    }
    return ports;
  }

  /** The statuses that may be other ones; undefined: the route is gone. */
  *takeStatuses(): Iterable<readonly [key: string, status: WantedStatus | undefined]> {
    for (const key of [...this.#changed]) {
      const route = this.#routes.get(key);
      const verdicts = this.#verdicts.get(key);
      // A parent that is not judged yet is so the next time.
      if (route !== undefined && !parentsOf(route).every((parent) => verdicts?.has(parent))) continue;
      this.#changed.delete(key);
      const parents = [...(verdicts?.values() ?? [])].flat().map((one) => this.#withRejection(one));
      const status = route && { generation: route.generation, parents };
      this.faults.set(key, route && status ? faultsOf(route, status) : []);
      yield [key, status];
    }
  }

  #withRejection(one: AttachedVerdict | Unjudged): ParentVerdict {
    if (one.conditions === undefined) return one;
    const { parentRef, conditions, ports } = one;
    const words = ports.flatMap((port) => this.#rejections.get(port)?.words ?? []);
    const rejected = verdict(rejectedType, "True", "RejectedByClient", words.join("; "));
    return { parentRef, conditions: words.length > 0 ? [...conditions, rejected] : conditions };
  }

  #ofParent(key: string): readonly MeshRoute[] {
    const routes = [...(this.#naming.get(key) ?? [])].flatMap((name) => this.#routes.get(name) ?? []);
    return routes.filter((route) => parentsOf(route).includes(key));
  }

  #isGranted({ kind, namespace: own }: MeshRoute, { namespace, name: wanted }: RouteBackend): boolean {
    const [group] = gatewayApi.split("/");
    return [...this.#grants.values()].some(
      (grant) =>
        grant.namespace === namespace &&
        grant.from.some((from) => from.group === group && from.kind === kind && from.namespace === own) &&
        grant.to.some((to) => to.group === "" && to.kind === "Service" && (to.name ?? wanted) === wanted),
    );
  }
}

function parentsOf(route: MeshRoute | undefined): readonly string[] {
  return [...new Set(route?.parents.map(objectKey))];
}

function namedBy(route: MeshRoute | undefined): readonly string[] {
  const backends = route?.rules.flatMap((rule) => rule.backends.map(objectKey)) ?? [];
  return [...new Set([...parentsOf(route), ...backends])];
}

function faultsOf({ kind, namespace, name, uid }: MeshRoute, { parents }: WantedStatus) {
  const object = { apiVersion: gatewayApi, kind, namespace, name, uid };
  const bad = parents.flatMap(({ conditions = [] }) => conditions.filter(isBad));
  return bad.map(({ type, reason, message }) => ({ object, reason, field: type, message }));
}
