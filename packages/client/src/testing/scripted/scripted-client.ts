import type { Message } from "@bufbuild/protobuf";
import { createResource, type ResourceName, type ResourceType, resourceTypes, XdskitError } from "@xdskit/api";
import type { ReceivedResource } from "@xdskit/protocol";
import type { Watch } from "../../contract/watch.js";
import type { ResourceWatcher, TypeOf, XdsClient } from "../../contract/xds-client.js";

/** A client whose answers a test gives, one by one. */
export interface ScriptedClient extends Pick<XdsClient, "watch"> {
  /** `cluster web`, in order of names. A name that is watched twice is listed twice. */
  readonly watched: readonly string[];
  /** Tells all watchers of it; returns their promises. */
  /** `name`: of a message that has none of its own. */
  give(message: Message, name?: ResourceName): Promise<void>;
  fail(type: string, name: ResourceName, error?: XdskitError): Promise<void>;
  ambient(type: string, name: ResourceName, error: XdskitError): Promise<void>;
}

/** @param told Is called when a watch begins (`+cluster web`) or ends (`-cluster web`). */
export function createScriptedClient(told: (what: string) => void = () => {}): ScriptedClient {
  const watchers = new Map<string, Set<ResourceWatcher>>();
  const all = async (key: string, call: (watcher: ResourceWatcher) => unknown) => {
    await Promise.all([...(watchers.get(key) ?? [])].map(call));
  };
  const watch = (type: TypeOf<Message>, name: ResourceName, watcher: ResourceWatcher): Watch => {
    const known = typeof type === "string" ? type : type.typeName;
    const row = resourceTypes.find(known) ?? resourceTypes.find(`type.googleapis.com/${known}`);
    const key = `${row?.name} ${name}`;
    const all = watchers.get(key) ?? new Set();
    watchers.set(key, all.add(watcher));
    told(`+${key}`);
    const cancel = () => {
      if (all.delete(watcher)) told(`-${key}`);
    };
    return { cancel };
  };
  return {
    watch: watch as XdsClient["watch"],
    get watched() {
      return [...watchers].flatMap(([key, all]) => [...all].map(() => key)).sort();
    },
    give: (message, ofNameless) => {
      const resource = receivedResource(message, ofNameless);
      return all(`${resource.type.name} ${resource.name}`, (watcher) => watcher.onChanged(resource));
    },
    fail: (type, name, error = noSuch(type, name)) => all(`${type} ${name}`, (watcher) => watcher.onError?.(error)),
    ambient: (type, name, error) => all(`${type} ${name}`, (watcher) => watcher.onAmbient?.(error)),
  };
}

/** A message as if a server had sent it. `ofNameless`: the name of a message that has none of its own. */
export function receivedResource<Shape extends Message>(
  message: Shape,
  ofNameless?: ResourceName,
): ReceivedResource<Shape> {
  const made = createResource(message, { name: ofNameless });
  const { name, version, aliases, ttl, body: value } = made;
  const type: ResourceType = made.type;
  return { type, name, version, aliases, ttl, message, typeUrl: type.typeUrl, value, resource: () => made };
}

/** A watcher's error for a resource that does not exist. */
export function noSuch(type: string, resource: ResourceName): XdskitError {
  return XdskitError.of("XDSKIT_DANGLING_REFERENCE", "does not exist", { type, resource });
}
