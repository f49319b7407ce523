import type { Message } from "@bufbuild/protobuf";
import {
  createResource,
  type Finding,
  noSuchType,
  type Registry,
  type Resource,
  type ResourceType,
  type ResourceTypes,
  type TypeUrl,
  throwIfAny,
  validateMessage,
  XdskitError,
} from "@xdskit/api";
import {
  type ChangeOptions,
  type Config,
  type ConfigLayer,
  defaultLayer,
  type ResourceSelector,
} from "../contracts/config.js";
import type { ConfigArrival } from "../contracts/nodes/arrival.js";
import type { LayerUpdate } from "../contracts/source.js";
import type { LayerName } from "../settings/group-settings.js";
import { checkList, checkServerCall } from "./option-tables.js";

/** Applies the update of `read` to a layer, or refuses it as a whole. An error of `read` or of the server is thrown. */
export type ChangeOfLayer<Result> = (layer: LayerName, read: () => LayerUpdate, options?: ChangeOptions) => Result;

/** The options for making resources from messages. */
export interface ConfigResourceOptions {
  readonly types: ResourceTypes;
  /** Undefined means the built-in one. */
  readonly registry: Registry | undefined;
  /** Whether messages must keep the validation rules of their protos. */
  readonly validate: boolean;
}

export function createConfig(
  options: ConfigResourceOptions,
  apply: ChangeOfLayer<ConfigArrival>,
  drop: (layer: LayerName) => ConfigArrival,
  awaits: (layer: LayerName, types: ReadonlySet<TypeUrl>) => void,
): Config {
  const { types } = options;
  function layer(name: LayerName): ConfigLayer {
    const update: ConfigLayer["update"] = (changes, how) => {
      checkServerCall("config.update", changes);
      const { upsert = [], remove = [] } = changes;
      for (const list of [upsert, remove]) checkList("config.update", list);
      const read = (): LayerUpdate => ({
        layer: name,
        kind: "patch",
        upsert: asResources(upsert, options),
        remove: Array.from(remove, (selector) => ({ type: typeOf(selector, types), name: selector.name })),
      });
      return apply(name, read, checked(how));
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
function asResources(from: Iterable<Message | Resource>, options: ConfigResourceOptions): Resource[] {
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
  throwIfAny(findings);
  return resources;
}

export function toResource(each: Message | Resource, options: ConfigResourceOptions): Resource {
  // A program without types may pass an object that only looks like a message.
  if (typeof each !== "object" || each === null || !("$typeName" in each || "body" in each)) {
    const fix = "make it with `create` of @bufbuild/protobuf, or with `createResource`";
    throw XdskitError.of("XDSKIT_MESSAGE_INVALID", `neither a message nor a resource: ${fix}`);
  }
  return "$typeName" in each ? asResource(each, options) : each;
}

function asResource(message: Message, { types, registry, validate }: ConfigResourceOptions): Resource {
  const resource = createResource(message, { types, registry });
  const findings = validate ? validateMessage(message, { registry }) : [];
  const about = { type: resource.type.name, resource: resource.name };
  throwIfAny(findings.map((finding) => ({ ...finding, ...about })));
  return resource;
}

function checked(how: ChangeOptions | undefined): ChangeOptions | undefined {
  if (how !== undefined) checkServerCall("the options of a change", how);
  return how;
}

function typeOf(selector: Partial<ResourceSelector>, types: ResourceTypes): ResourceType {
  checkServerCall("config.remove", selector);
  const { type, name } = selector;
  const found = types.find(String(type));
  if (found !== undefined) return found;
  throw XdskitError.of("XDSKIT_TYPE_NAME_UNKNOWN", noSuchType(String(type), types), { type, resource: name });
}
