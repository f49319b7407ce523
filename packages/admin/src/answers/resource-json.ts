import { type Registry, type Resource, type ShownBody, shownBody, wrapperJson } from "@xdskit/api";
import type { ReadingThread } from "@xdskit/api/threads";

/** A resource as JSON without its secrets. */
export type ShownResource = Readonly<Record<string, unknown>>;

/**
 * Shows resources as files hold them: in a wrapper if the message does not say everything. Kept as long as the resource
 * lives.
 */
export interface ShowResource {
  (resource: Resource): ShownResource;
  /** Makes the JSON of long ones in the thread: to show one then leaves turns to others. */
  readonly prepare: (resources: Iterable<Resource | undefined>) => Promise<void>;
}

/** The spelling of fields: `connectTimeout` as in JSON, or `connect_timeout` as in protos and most files. */
export type FieldNames = "json" | "proto";

const wrapperUrl = "type.googleapis.com/envoy.service.discovery.v3.Resource";

/** Long resources are shown in the thread, if they are prepared. */
export function createShowResource(
  registry: Registry,
  reading: ReadingThread,
  fieldNames: FieldNames = "json",
): ShowResource {
  const known = new WeakMap<Resource, ShownResource>();
  const coming = new WeakMap<Resource, Promise<void>>();
  const failed = new WeakSet<Resource>();
  const show = (resource: Resource) => {
    if (failed.has(resource)) return wrapped(resource, undefined, registry);
    const shown = known.get(resource) ?? wrapped(resource, shownBody(resource, { registry, fieldNames }), registry);
    known.set(resource, shown);
    return shown;
  };
  const prepareOne = async (resource: Resource) => {
    try {
      known.set(resource, wrapped(resource, await reading.shown(resource, fieldNames), registry));
      failed.delete(resource);
    } catch {
      // Not here instead, where it would end the server. The next one who asks tries again.
      failed.add(resource);
    } finally {
      coming.delete(resource);
    }
  };
  const prepare = async (resources: Iterable<Resource | undefined>) => {
    for (const resource of resources) {
      if (resource === undefined || known.has(resource) || !reading.shows(resource)) continue;
      // Several may ask for it at once.
      const shown = coming.get(resource) ?? prepareOne(resource);
      coming.set(resource, shown);
      await shown;
    }
  };
  return Object.assign(show, { prepare });
}

function wrapped(resource: Resource, shown: ShownBody | undefined, registry: Registry): ShownResource {
  const { type, name, aliases, ttl, variant } = resource;
  if (shown === undefined) return { "@type": type.typeUrl };
  const { json } = shown;
  // Its constraints stand beside its name.
  if (variant !== undefined) return wrapperJson(resource, json, registry);
  const isBare = aliases.length === 0 && ttl === undefined && (type.anyContent || shown.name === name);
  if (isBare) return json;
  return {
    "@type": wrapperUrl,
    name,
    ...(aliases.length > 0 ? { aliases } : {}),
    ...(ttl === undefined ? {} : { ttl: `${ttl / 1_000}s` }),
    resource: json,
  };
}
