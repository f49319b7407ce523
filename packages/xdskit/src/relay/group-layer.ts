import {
  canonicalName,
  type Finding,
  type Resource,
  type ResourceName,
  type ResourceType,
  XdskitError,
} from "@xdskit/api";
import type { Collection } from "@xdskit/client";
import type { ReceivedResource } from "@xdskit/protocol";
import type { ConfigLayer } from "@xdskit/server";

/** What a group's layer is made of: collections of the origin, and single resources that are asked for before a client does. */
export interface GroupLayer {
  /** One response's change of a collection: one atomic change of the layer. */
  collection(type: ResourceType, collection: Collection): void;
  /** A single resource; undefined: there is none. */
  single(type: ResourceType, name: ResourceName, received: ReceivedResource | undefined): void;
}

export interface GroupLayerOptions {
  readonly layer: ConfigLayer;
  /** Hears of everything that came or went, after it is served. */
  changed(type: ResourceType, key: ResourceName, resource: Resource | undefined): void;
  /** What could not be served. */
  report(findings: readonly Finding[]): void;
}

export function createGroupLayer({ layer, changed, report }: GroupLayerOptions): GroupLayer {
  function put(type: ResourceType, upserted: readonly ReceivedResource[], removed: readonly ResourceName[]): void {
    const upsert: Resource[] = [];
    for (const received of upserted) {
      const resource = servedAs(received, report);
      if (resource !== undefined) upsert.push(resource);
    }
    const remove = removed.map((name) => ({ type: type.typeUrl, name }));
    try {
      layer.update({ upsert, remove });
    } catch (error) {
      if (!(error instanceof XdskitError)) throw error;
      report(error.findings);
      return;
    }
    for (const name of removed) changed(type, canonicalName(name), undefined);
    for (const resource of upsert) changed(type, resource.key, resource);
  }
  return {
    collection: (type, { upserted, removed }) => put(type, upserted, removed),
    single: (type, name, received) => (received === undefined ? put(type, [], [name]) : put(type, [received], [])),
  };
}

/** A received resource as one that is served: its version says its content, whatever the origin called it. Undefined where it is none. */
export function servedAs(received: ReceivedResource, report: GroupLayerOptions["report"]): Resource | undefined {
  try {
    return received.resource();
  } catch (error) {
    if (!(error instanceof XdskitError)) throw error;
    report(error.findings);
    return undefined;
  }
}
