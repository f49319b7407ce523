import { setImmediate as nextTurn } from "node:timers/promises";
import type { z } from "@hono/zod-openapi";
import { inTurns, oneByOne, type Reference, type Resource, typeNameIn } from "@xdskit/api";
import { hasNamed, type Snapshot } from "@xdskit/protocol";
import type { ShowResource } from "../answers/resource-json.js";
import type { GroupResource, GroupResources } from "../contract/answers.js";
import type { NodeResourcesQuery } from "../contract/fleet.js";
import type { groupSortSchema } from "../contract/group-schemas.js";
import { maxInEntry } from "../contract/limits.js";
import type { GraphContext } from "./graph.js";
import { healthOf, resourceSummary } from "./summary.js";
import { isUnused } from "./unused.js";

/** Others get a turn after this many resources. */
const inTurn = 200;

/** The parts from which rows are made. */
export interface GroupContext extends GraphContext {
  /** The layer that a resource comes from. */
  layerOf(resource: Resource): string | null;
  whereOf(resource: Resource): GroupResource["where"];
}

/** Selects resources of a group. */
export interface GroupQuery extends Pick<NodeResourcesQuery, "type" | "offset" | "limit"> {
  /** A part of the name, or of the content with `contents`. */
  readonly q?: string | undefined;
  readonly contents: boolean;
  readonly only?: "dangling" | "unused" | undefined;
  readonly sort: z.output<typeof groupSortSchema>;
  readonly descending: boolean;
}

/** A page of a group's resources. */
export async function groupRows(context: GroupContext, query: GroupQuery): Promise<GroupResources> {
  const { snapshot, names, types, show } = context;
  const counts: GroupResources["counts"] = [];
  const found: Resource[] = [];
  const wanted = query.q?.toLowerCase() ?? "";
  let looked = 0;
  for (const type of types.all) {
    const set = snapshot.sets.get(type.typeUrl);
    if (set === undefined || set.size === 0) continue;
    const count = { type: type.name, count: set.size, dangling: 0, unused: 0 };
    counts.push(count);
    const isListed = query.type === undefined || query.type === type.name;
    const listed: Resource[] = [];
    for (const resource of [...set]) {
      looked += 1;
      if (looked % inTurn === 0) await nextTurn();
      const isDangling = lacking(resource, snapshot).length > 0;
      const isLeft = isUnused(resource, names);
      count.dangling += Number(isDangling);
      count.unused += Number(isLeft);
      if (!isListed || (query.only === "dangling" && !isDangling) || (query.only === "unused" && !isLeft)) continue;
      if (query.contents) await show.prepare([resource]);
      if (wanted === "" || isFound(resource, wanted, query.contents, show)) listed.push(resource);
    }
    found.push(...listed.sort((a, b) => (a.key < b.key ? -1 : 1)));
  }
  const page = sorted(found, context, query).slice(query.offset, query.offset + query.limit);
  await show.prepare(page);
  const resources: GroupResource[] = [];
  await inTurns(oneByOne(page, (resource) => void resources.push(groupRow(context, resource))));
  return { total: found.length, counts, resources };
}

/** `found` is by type and name; what is alike stays in this order. */
function sorted(found: readonly Resource[], context: GroupContext, query: GroupQuery): readonly Resource[] {
  const { sort, descending } = query;
  const keys: Readonly<Record<Exclude<typeof sort, "type">, (resource: Resource) => string | number>> = {
    name: ({ name }) => name,
    layer: (resource) => context.layerOf(resource) ?? "",
    uses: ({ references }) => references.length,
    "used-by": ({ type, name }) => context.names.users({ type: type.typeUrl, name }).length,
  };
  if (sort === "type") return descending ? found.toReversed() : found;
  const keyed = found.map((resource) => ({ resource, key: keys[sort](resource) }));
  const sign = descending ? -1 : 1;
  return keyed.sort((a, b) => (a.key < b.key ? -sign : a.key > b.key ? sign : 0)).map(({ resource }) => resource);
}

/** One resource as a row. */
export function groupRow(
  { snapshot, names, types, show, layerOf, whereOf }: GroupContext,
  resource: Resource,
): GroupResource {
  const { type, name, version, references } = resource;
  const dangling = lacking(resource, snapshot).slice(0, maxInEntry);
  const content = show(resource);
  return {
    type: type.name,
    typeUrl: type.typeUrl,
    name,
    version,
    layer: layerOf(resource),
    summary: resourceSummary(type.name, content),
    health: healthOf(content),
    uses: references.length,
    usedBy: names.users({ type: type.typeUrl, name }).length,
    dangling: dangling.map((one) => ({ type: typeNameIn(types, one.type), name: one.name })),
    unused: isUnused(resource, names),
    where: whereOf(resource),
  };
}

/** The names in a resource that the snapshot lacks. */
function lacking({ references }: Resource, snapshot: Snapshot): readonly Reference[] {
  return references.filter((one) => !hasNamed(snapshot, one));
}

function isFound(resource: Resource, wanted: string, contents: boolean, show: ShowResource): boolean {
  if (resource.name.toLowerCase().includes(wanted)) return true;
  return contents && JSON.stringify(show(resource)).toLowerCase().includes(wanted);
}
