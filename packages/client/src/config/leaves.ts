import type { Message } from "@bufbuild/protobuf";
import type { GenMessage } from "@bufbuild/protobuf/codegenv2";
import { isGlobName, type ResourceName, XdskitError } from "@xdskit/api";
import { ClusterSchema } from "@xdskit/api/envoy/config/cluster/v3/cluster";
import { ClusterLoadAssignmentSchema } from "@xdskit/api/envoy/config/endpoint/v3/endpoint";
import { LbEndpointCollectionSchema } from "@xdskit/api/envoy/config/endpoint/v3/endpoint_components";
import { ListenerSchema } from "@xdskit/api/envoy/config/listener/v3/listener";
import { RouteConfigurationSchema } from "@xdskit/api/envoy/config/route/v3/route";
import type { ReceivedResource } from "@xdskit/protocol";
import type { Watch } from "../contract/watch.js";
import type { ResourceWatcher, XdsClient } from "../contract/xds-client.js";
import type { Watcher } from "../watchers/delivery.js";
import type { LeafShapes, LeafState, LeafType } from "./leaf.js";
import { unresolved } from "./problem.js";

/** One resource that is watched for a configuration. */
export interface Leaf<Type extends LeafType = LeafType> {
  readonly type: Type;
  readonly name: ResourceName;
  readonly state: LeafState<LeafShapes[Type]>;
  readonly ambient: XdskitError | undefined;
}

interface WatchedLeaf {
  readonly leaf: Leaf;
  readonly watch: Watch | undefined;
}

const schemas: { readonly [Type in LeafType]: GenMessage<LeafShapes[Type]> } = {
  listener: ListenerSchema,
  route: RouteConfigurationSchema,
  cluster: ClusterSchema,
  endpoint: ClusterLoadAssignmentSchema,
  "locality-endpoint-collection": LbEndpointCollectionSchema,
};

/** The resources of one configuration that are watched, each once. */
export class Leaves {
  private readonly client: Pick<XdsClient, "watch">;
  private readonly onChanged: (leaf: Leaf, what: "state" | "ambient") => Promise<void>;
  private readonly leaves: { readonly [Type in LeafType]: Map<ResourceName, WatchedLeaf> } = {
    listener: new Map(),
    route: new Map(),
    cluster: new Map(),
    endpoint: new Map(),
    "locality-endpoint-collection": new Map(),
  };
  private readonly troubled = new Set<Leaf>();

  /**
   * @param onChanged Called when anything about a leaf changed, perhaps within `of`; returns when the change has been
   * used.
   */
  constructor(client: Pick<XdsClient, "watch">, onChanged: (leaf: Leaf, what: "state" | "ambient") => Promise<void>) {
    this.client = client;
    this.onChanged = onChanged;
  }

  /** The leaf of a name, which is watched from now on. */
  of<Type extends LeafType>(type: Type, name: ResourceName): Leaf<Type> {
    const known = this.leaves[type].get(name);
    if (known !== undefined) return known.leaf as Leaf<Type>;
    const leaf = {
      type,
      name,
      state: waiting as LeafState<LeafShapes[Type]>,
      ambient: undefined as XdskitError | undefined,
    };
    // For a route a star is a name like any other, for a server it means everything. A message that breaks the rules
    // may have no name at all.
    if (isGlobName(name) || name === "*" || name === "") {
      const problem = name === "" ? "it has no name" : "a collection is no single resource";
      leaf.state = { kind: "error", error: unresolved(problem, type, name) };
      this.leaves[type].set(name, { leaf, watch: undefined });
      return leaf;
    }
    let isOver = false;
    const notify = (state: LeafState<LeafShapes[Type]>, ambient: XdskitError | undefined) => {
      if (isOver) return undefined;
      const what = state === leaf.state ? "ambient" : "state";
      leaf.state = state;
      leaf.ambient = ambient;
      if (ambient === undefined) this.troubled.delete(leaf);
      else this.troubled.add(leaf);
      return this.onChanged(leaf, what);
    };
    const watcher: ResourceWatcher<LeafShapes[Type]> & Pick<Watcher<never>, "onRecovered"> = {
      onChanged: (resource) => notify(stateOf(resource), undefined),
      onError: (error) => notify({ kind: "error", error }, undefined),
      onAmbient: (error) => notify(leaf.state, error),
      onRecovered: () => void notify(leaf.state, undefined),
    };
    const watch = this.client.watch(schemas[type], name, watcher);
    const cancel = () => {
      isOver = true;
      watch.cancel();
    };
    this.leaves[type].set(name, { leaf, watch: { cancel } });
    return leaf;
  }

  /** Ends the watches of all leaves but these. */
  keep(isNeeded: (leaf: Leaf) => boolean): void {
    for (const { leaf, watch } of Object.values(this.leaves).flatMap((watched) => [...watched.values()])) {
      if (isNeeded(leaf)) continue;
      this.leaves[leaf.type].delete(leaf.name);
      this.troubled.delete(leaf);
      watch?.cancel();
    }
  }

  /** Leaves that are in use and have a problem. */
  problems(): readonly { readonly leaf: Leaf; readonly error: XdskitError }[] {
    return [...this.troubled].flatMap((leaf) => (leaf.ambient === undefined ? [] : [{ leaf, error: leaf.ambient }]));
  }
}

const waiting = { kind: "waiting" } as const;

/** A resource that the client did not check may not be a message of its type. */
function stateOf<Shape extends Message>(resource: ReceivedResource<Shape>): LeafState<Shape> {
  try {
    void resource.message;
    return { kind: "here", resource };
  } catch (error) {
    if (error instanceof XdskitError) return { kind: "error", error };
    throw error;
  }
}
