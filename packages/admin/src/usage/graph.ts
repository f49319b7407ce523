import { isCollection, type Reference, type Resource, type ResourceTypes, typeNameIn } from "@xdskit/api";
import type { FollowedNames, Snapshot } from "@xdskit/protocol";
import type { ShowResource } from "../answers/resource-json.js";
import type { GraphJson } from "../contract/answers.js";
import { clustersOf, hostsOf, type Json, list, record } from "./json-parts.js";
import { healthOf, resourceSummary } from "./summary.js";
import { isUnused } from "./unused.js";

/** The most nodes of a graph: nobody can read a picture with more. */
const maxNodes = 300;

/** The parts from which the graph is made. */
export interface GraphContext {
  readonly snapshot: Snapshot;
  /** Who names whom: as of now, which may be after the snapshot. */
  readonly names: FollowedNames;
  readonly types: ResourceTypes;
  /** With the names of fields as in protos. */
  readonly show: ShowResource;
}

/**
 * The graph of uses: everything that a resource uses, directly or not, and everything that uses it. Without a resource:
 * from all listeners, and then everything that nothing names. Virtual hosts stand between their route configuration and
 * the clusters that they name.
 */
export function graphOf(context: GraphContext, root: Reference | undefined): GraphJson {
  const drawing = new Drawing(context);
  const listeners = context.types.find("listener");
  const named = ({ type, name }: Resource) => ({ type: type.typeUrl, name });
  const begins = listeners === undefined ? [] : [...context.snapshot.of(listeners)];
  for (const one of root === undefined ? [...begins, ...unusedOf(context)].map(named) : [root]) drawing.down(one);
  if (root !== undefined) drawing.up(root);
  return drawing.graph();
}

/** The resources that nothing names, as far as they are drawn. */
function unusedOf({ snapshot, names }: GraphContext): readonly Resource[] {
  const found: Resource[] = [];
  for (const set of snapshot.sets.values()) {
    for (const resource of set) {
      if (found.length >= maxNodes) return found;
      if (isUnused(resource, names)) found.push(resource);
    }
  }
  return found;
}

class Drawing {
  readonly #context: GraphContext;
  readonly #places = new Map<string, number>();
  readonly #nodes: GraphJson["nodes"] = [];
  readonly #edges = new Map<string, GraphJson["edges"][number]>();
  readonly #followed = new Set<string>();
  #isCut = false;

  constructor(context: GraphContext) {
    this.#context = context;
  }

  graph(): GraphJson {
    return { nodes: this.#nodes, edges: [...this.#edges.values()], isCut: this.#isCut };
  }

  /** Draws the resources that a resource uses. */
  down(root: Reference): void {
    const waiting: Reference[] = [root];
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const place = this.#place(next);
      const key = `${next.type} ${next.name}`;
      if (place === undefined || this.#followed.has(key)) continue;
      this.#followed.add(key);
      for (const resource of this.#found(next)) waiting.push(...this.#drawUses(resource, place));
    }
  }

  /** Draws the resources that use a resource. */
  up(root: Reference): void {
    const waiting: Reference[] = [root];
    const seen = new Set<string>();
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const key = `${next.type} ${next.name}`;
      if (seen.has(key)) continue;
      seen.add(key);
      for (const user of this.#context.names.users(next)) {
        const named = { type: user.type.typeUrl, name: user.name };
        const place = this.#place(named);
        if (place === undefined) return;
        this.#drawUses(user, place, next);
        waiting.push(named);
      }
    }
  }

  /** Draws the edges of a resource, all or those that lead to one; returns where they lead. */
  #drawUses(resource: Resource, place: number, only?: Reference): readonly Reference[] {
    const isWanted = (named: Reference) => only === undefined || (only.type === named.type && only.name === named.name);
    const uses = resource.references.filter((one) => !isCollection(one) && isWanted(one));
    const byHost = new Set<string>();
    if (resource.type.name === "route") {
      const json = this.#json(resource);
      for (const host of hostsOf(json)) {
        const named = clustersOf(host).filter((name) => uses.some((one) => one.name === name));
        if (only !== undefined && named.length === 0) continue;
        const hostPlace = this.#hostPlace(resource, host);
        if (hostPlace === undefined) continue;
        this.#edge(place, hostPlace);
        for (const use of uses.filter(({ name }) => named.includes(name))) {
          this.#edge(hostPlace, this.#place(use));
          byHost.add(use.name);
        }
      }
    }
    for (const use of uses) if (!byHost.has(use.name)) this.#edge(place, this.#place(use));
    return uses;
  }

  #edge(from: number, to: number | undefined): void {
    if (to !== undefined) this.#edges.set(`${from} ${to}`, { from, to });
  }

  #hostPlace(route: Resource, host: Json): number | undefined {
    const name = `${route.name}/${String(host.name ?? "")}`;
    const domains = list(host.domains).join(", ");
    const of = { type: "virtual-host", name };
    return this.#add(`host ${name}`, { ...of, isThere: true, unused: false, health: null, summary: domains });
  }

  #place(named: Reference): number | undefined {
    const { names, types } = this.#context;
    const [resource] = this.#found(named);
    const json = resource && this.#json(resource);
    return this.#add(`${named.type} ${named.name}`, {
      type: typeNameIn(types, named.type),
      name: named.name,
      isThere: resource !== undefined,
      unused: resource !== undefined && isUnused(resource, names),
      summary: json === undefined ? "" : resourceSummary(resource?.type.name ?? "", json),
      health: json === undefined ? null : healthOf(json),
    });
  }

  #add(key: string, node: GraphJson["nodes"][number]): number | undefined {
    const known = this.#places.get(key);
    if (known !== undefined) return known;
    if (this.#nodes.length >= maxNodes) {
      this.#isCut = true;
      return undefined;
    }
    this.#places.set(key, this.#nodes.length);
    return this.#nodes.push(node) - 1;
  }

  #found({ type, name }: Reference): readonly Resource[] {
    return this.#context.snapshot.sets.get(type)?.named(name) ?? [];
  }

  #json(resource: Resource): Json {
    const shown = this.#context.show(resource);
    return record(shown.resource) ?? shown;
  }
}
