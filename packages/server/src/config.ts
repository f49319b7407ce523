import type { Message } from "@bufbuild/protobuf";
import {
  createResource,
  type Finding,
  type Registry,
  type Resource,
  type ResourceName,
  type ResourceType,
  type ResourceTypes,
  type TypeUrl,
  validateMessage,
  XdskitError,
} from "@xdskit/api";
import type { ConfigArrival } from "./ledger/arrival.js";
import { checkCall, checkList } from "./option-tables.js";
import type { LayerName, LayerUpdate } from "./source.js";
import type { RolloutSettings } from "./views/rollout-settings.js";

/** Names one resource: its type as people type it (`cluster`, `cds`) or its type URL, and its name. */
export interface ResourceSelector {
  readonly type: string;
  readonly name: ResourceName;
}

/** How the configuration of a program is to change. */
export interface ConfigUpdate {
  /** Added, or put in the place of those with the same type and name. */
  readonly upsert?: Iterable<Message | Resource>;
  /** A name that is not there is no error. What is also in `upsert` is there afterwards. */
  readonly remove?: Iterable<ResourceSelector>;
}

/** How one change goes to the nodes. */
export interface ChangeOptions {
  /** By which steps, in every group that sees it; `off`: to all at once. Default: as the settings of each group say. */
  readonly rollout?: RolloutSettings | "off" | undefined;
}

/**
 * One layer of resources that a program sets. Each call is one atomic change: it is applied whole, or an XdskitError is thrown
 * and nothing changed. Resources with the content that they had are sent to nobody. Calls in one turn of the event loop reach
 * clients as one change. Each says by its arrival how far it came.
 */
export interface ConfigLayer {
  readonly name: LayerName;
  /**
   * The layer holds exactly these resources from now on. A message is one of Envoy's, made with `create(ClusterSchema, …)`; a
   * `Resource` (from `createResource`) can also have aliases and a TTL, and is taken as it is. Throws if a message is of no known type, has no
   * name or breaks a validation rule of its proto, and if a name appears twice for one type.
   */
  set(resources: Iterable<Message | Resource>, options?: ChangeOptions): ConfigArrival;
  /** Changes only what is named. Throws as `set` does, and for an unknown type in `remove`. */
  update(update: ConfigUpdate, options?: ChangeOptions): ConfigArrival;
  /** `update` with `remove` only. */
  remove(...resources: readonly ResourceSelector[]): ConfigArrival;
  /**
   * Says of which types it is not known yet what the layer has, though other types are: clients that ask for all of one, or for a collection, get no answer of that type and keep what
   * they have, until a later call leaves the type out. Throws for an unknown type, and where streams live in other threads (`workers`).
   */
  awaits(types: Iterable<string>): void;
  /**
   * Lets go of the layer: what it holds is removed from all groups, and nothing is kept of it, not even its name, while an emptied layer goes
   * on to cost memory. To set it again makes a new layer of this name. Does nothing if there is none.
   */
  drop(): ConfigArrival;
}

/** What programs set: the layer `default`, and as many more by name as a program wants. */
export interface Config extends ConfigLayer {
  /** Another layer, for groups to name; the same name gives the same layer. */
  layer(name: LayerName): ConfigLayer;
}

/** The layer that `server.config.set` writes. */
export const defaultLayer: LayerName = "default";

/** Applies what `read` gives to a layer, or refuses it whole: what `read` throws, or the server, is thrown. */
export type ApplyLayer = (layer: LayerName, read: () => LayerUpdate, options?: ChangeOptions) => ConfigArrival;

/** How messages become resources. */
export interface ConfigOptions {
  readonly types: ResourceTypes;
  /** Undefined: the built-in one. */
  readonly registry: Registry | undefined;
  /** Whether messages must keep the validation rules of their protos. */
  readonly validate: boolean;
}

export function createConfig(
  options: ConfigOptions,
  apply: ApplyLayer,
  drop: (layer: LayerName) => ConfigArrival,
  awaits: (layer: LayerName, types: ReadonlySet<TypeUrl>) => void,
): Config {
  const { types } = options;
  function layer(name: LayerName): ConfigLayer {
    const update: ConfigLayer["update"] = (changes, how) => {
      checkCall("config.update", changes);
      const { upsert = [], remove = [] } = changes;
      for (const list of [upsert, remove]) checkList("config.update", list);
      return apply(
        name,
        () => ({
          layer: name,
          kind: "patch",
          upsert: asResources(upsert, options),
          remove: Array.from(remove, (selector) => ({ type: typeOf(selector, types), name: selector.name })),
        }),
        checked(how),
      );
    };
    return {
      name,
      set(resources, how) {
        checkList("config.set", resources);
        const read = () => ({ layer: name, kind: "replace", upsert: asResources(resources, options) }) as const;
        return apply(name, read, checked(how));
      },
      update,
      remove: (...resources) => update({ remove: resources }),
      awaits: (awaited) => awaits(name, new Set(Array.from(awaited, (type) => typeOf({ type }, types).typeUrl))),
      drop: () => drop(name),
    };
  }
  return { ...layer(defaultLayer), layer };
}

/** Throws one error for all messages that cannot be served. */
function asResources(from: Iterable<Message | Resource>, options: ConfigOptions): Resource[] {
  const resources: Resource[] = [];
  const findings: Finding[] = [];
  for (const each of from) {
    try {
      resources.push(toResource(each, options));
    } catch (error) {
      if (!(error instanceof XdskitError)) throw error;
      findings.push(...error.findings);
    }
  }
  const [first, ...rest] = findings;
  if (first !== undefined) throw new XdskitError([first, ...rest]);
  return resources;
}

export function toResource(each: Message | Resource, options: ConfigOptions): Resource {
  // Programs without types give what looks like a message and is none.
  if (typeof each !== "object" || each === null || !("$typeName" in each || "body" in each)) {
    const mend = "make it with `create` of @bufbuild/protobuf, or with `createResource`";
    throw XdskitError.of("XDSKIT_MESSAGE_INVALID", `neither a message nor a resource: ${mend}`);
  }
  return "$typeName" in each ? asResource(each, options) : each;
}

function asResource(message: Message, { types, registry, validate }: ConfigOptions): Resource {
  const resource = createResource(message, { types, registry });
  if (!validate) return resource;
  const findings = validateMessage(message, { registry });
  const [first, ...rest] = findings.map((finding) => ({
    ...finding,
    type: resource.type.name,
    resource: resource.name,
  }));
  if (first !== undefined) throw new XdskitError([first, ...rest]);
  return resource;
}

function checked(how: ChangeOptions | undefined): ChangeOptions | undefined {
  if (how !== undefined) checkCall("the options of a change", how);
  return how;
}

function typeOf(selector: Partial<ResourceSelector>, types: ResourceTypes): ResourceType {
  checkCall("config.remove", selector);
  const { type, name } = selector;
  const found = types.find(String(type));
  if (found !== undefined) return found;
  throw XdskitError.of("XDSKIT_TYPE_NAME_UNKNOWN", "there is no such type of resources", { type, resource: name });
}
