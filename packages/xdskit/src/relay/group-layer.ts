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
import type { HeldRemovals } from "./held-removals.js";

/** What a group's layer is made of: collections of the origin, and single resources that are asked for before a client does. */
export interface GroupLayer {
  /** One response's change of a collection: one atomic change of the layer. */
  collection(type: ResourceType, collection: Collection): void;
  /** A single resource; undefined: there is none. What waits to be removed and names it keeps it. */
  single(type: ResourceType, name: ResourceName, received: ReceivedResource | undefined): void;
}

export interface GroupLayerOptions {
  readonly layer: ConfigLayer;
  readonly removals: HeldRemovals;
  /** Hears of everything that came or went, after it is served. */
  changed(type: ResourceType, key: ResourceName, resource: Resource | undefined): void;
  /** What could not be served. */
  report(findings: readonly Finding[]): void;
}

export function createGroupLayer({ layer, removals, changed, report }: GroupLayerOptions): GroupLayer {
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
    collection(type, { upserted, removed }) {
      for (const { name } of upserted) removals.keep(type, name);
      // What nothing names goes in the same change as what comes.
      const free = removals.free(type, removed);
      put(type, upserted, free);
      const going = new Set(free);
      const named = removed.filter((name) => !going.has(name));
      removals.remove(type, named, "anything", (names) => put(type, [], names));
    },
    single(type, name, received) {
      if (received !== undefined) {
        removals.keep(type, name);
        put(type, [received], []);
        removals.look();
      } else removals.remove(type, [name], "waiting", (names) => put(type, [], names));
    },
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
