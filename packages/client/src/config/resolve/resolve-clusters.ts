import { canonicalName, type ResourceName } from "@xdskit/api";
import type { Cluster } from "@xdskit/api/envoy/config/cluster/v3/cluster";
import type { ClusterEndpoints, ConfigCluster, EndpointList } from "../../contract/xds-config.js";
import type { AskLeaf, LeafState } from "../leaf.js";
import type { Needs } from "../needs/needs.js";
import { unresolved } from "../problem.js";
import { aggregateDepth, leavesOf } from "./aggregate.js";
import { kept } from "./same.js";

/**
 * The named clusters and those below aggregate clusters; undefined while one is not known yet. Asks for everything that
 * it needs in any case.
 */
export function resolveClusters(
  roots: Iterable<ResourceName>,
  ask: AskLeaf,
  needs: Needs,
  before: ReadonlyMap<ResourceName, ConfigCluster> | undefined,
): ReadonlyMap<ResourceName, ConfigCluster> | undefined {
  const found = new Map<ResourceName, LeafState<Cluster>>();
  let level: readonly ResourceName[] = [...new Set(roots)];
  for (let depth = 0; depth < aggregateDepth && level.length > 0; depth += 1) {
    const below = new Set<ResourceName>();
    for (const name of level) {
      const state = ask("cluster", name);
      found.set(name, state);
      for (const child of childrenOf(state, needs)) below.add(child);
    }
    level = [...below].filter((name) => !found.has(name));
  }
  const clusters = new Map<ResourceName, ConfigCluster>();
  let isComplete = true;
  for (const [name, state] of found) {
    const cluster = clusterOf(name, state, { found, ask, needs, before: before?.get(name) });
    if (cluster === undefined) isComplete = false;
    else clusters.set(name, kept(before?.get(name), cluster));
  }
  return isComplete ? clusters : undefined;
}

interface ClusterContext {
  readonly found: ReadonlyMap<ResourceName, LeafState<Cluster>>;
  readonly ask: AskLeaf;
  readonly needs: Needs;
  /** The cluster as it was reported last. */
  readonly before: ConfigCluster | undefined;
}

function clusterOf(
  name: ResourceName,
  state: LeafState<Cluster>,
  { found, ask, needs, before }: ClusterContext,
): ConfigCluster | undefined {
  if (state.kind === "waiting") return undefined;
  if (state.kind === "error") return { kind: "error", name, resource: undefined, error: state.error };
  const { resource } = state;
  const need = needs.ofCluster(resource.message);
  if (need.kind === "aggregate") {
    const result = leavesOf(name, (below) => {
      const other = found.get(below);
      if (other === undefined) return undefined;
      return other.kind === "here" && needs.ofCluster(other.resource.message).kind === "aggregate"
        ? childrenOf(other, needs)
        : "end";
    });
    if ("leaves" in result) return { kind: "aggregate", name, resource, leaves: result.leaves };
    return { kind: "error", name, resource, error: unresolved(result.problem, "cluster", name) };
  }
  const endpoints = need.kind === "eds" ? assignmentOf(name, need, { ask, needs, before }) : need.endpoints;
  return endpoints && { kind: "cluster", name, resource, endpoints };
}

/** The load assignment that a cluster asks for; undefined if it needs none. */
export function assignmentName({ kind, resource }: ConfigCluster, needs: Needs): ResourceName | undefined {
  const need = kind === "cluster" ? needs.ofCluster(resource.message) : undefined;
  return need?.kind === "eds" && need.problem === undefined ? canonicalName(need.name) : undefined;
}

/**
 * The same clusters after changes of load assignments that they use; undefined while one is not known, or if one named
 * or names lists, which may be others now.
 */
export function withAssignments(
  before: ReadonlyMap<ResourceName, ConfigCluster>,
  names: Iterable<ResourceName>,
  ask: AskLeaf,
  needs: Needs,
): ReadonlyMap<ResourceName, ConfigCluster> | undefined {
  const changed = new Map<ResourceName, ConfigCluster>();
  for (const name of names) {
    const cluster = before.get(name);
    const need = cluster?.kind === "cluster" ? needs.ofCluster(cluster.resource.message) : undefined;
    if (cluster?.kind !== "cluster" || need?.kind !== "eds") continue;
    const endpoints = assignmentOf(name, need, { ask, needs, before: cluster });
    if (endpoints === undefined || hasLists(endpoints) || hasLists(cluster.endpoints)) return undefined;
    const after = kept<ConfigCluster>(cluster, { ...cluster, endpoints });
    if (after !== cluster) changed.set(name, after);
  }
  if (changed.size === 0) return before;
  const clusters = new Map(before);
  for (const [name, cluster] of changed) clusters.set(name, cluster);
  return clusters;
}

function childrenOf(state: LeafState<Cluster>, needs: Needs): readonly ResourceName[] {
  if (state.kind !== "here") return [];
  const need = needs.ofCluster(state.resource.message);
  return need.kind === "aggregate" ? need.clusters.map(canonicalName) : [];
}

/** Rule 126: a cluster can be used once the load assignment that it names is known. */
function assignmentOf(
  cluster: ResourceName,
  { name, problem }: { readonly name: ResourceName; readonly problem: string | undefined },
  { ask, needs, before }: Omit<ClusterContext, "found">,
): ClusterEndpoints | undefined {
  if (problem !== undefined) {
    const error = unresolved(`its load assignment ${problem}`, "cluster", cluster, "eds_cluster_config.eds_config");
    return { kind: "error", name, error };
  }
  const state = ask("endpoint", canonicalName(name));
  if (state.kind === "waiting") return undefined;
  if (state.kind === "error") return { kind: "error", name, error: state.error };
  const { resource } = state;
  const known = before?.kind === "cluster" && before.endpoints.kind === "assignment" ? before.endpoints.lists : none;
  const lists = needs.listsOf(resource.message).map((list) => listOf(list, ask, needs));
  if (!lists.every((list) => list !== undefined)) return undefined;
  const all = lists.map((list) =>
    kept(
      known.find((one) => one.name === list.name),
      list,
    ),
  );
  return { kind: "assignment", resource, lists: kept(known, all) };
}

const none: readonly EndpointList[] = [];

function hasLists(endpoints: ClusterEndpoints): boolean {
  return endpoints.kind === "assignment" && endpoints.lists.length > 0;
}

function listOf(name: ResourceName, ask: AskLeaf, needs: Needs): EndpointList | undefined {
  const state = ask("locality-endpoint-collection", canonicalName(name));
  if (state.kind === "waiting") return undefined;
  if (state.kind === "error") return { kind: "error", name, error: state.error };
  const { resource } = state;
  return { kind: "list", name, resource, endpoints: needs.endpointsOf(resource.message) };
}
