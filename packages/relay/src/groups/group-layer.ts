import { canonicalName, type Resource, type ResourceName, type ResourceType, XdskitError } from "@xdskit/api";
import type { Collection } from "@xdskit/client";
import type { ReceivedResource } from "@xdskit/protocol";
import type { GroupKnown } from "./group-known.js";
import type { OriginChange } from "./pending/origin-change.js";
import type { PendingChanges } from "./pending/pending-changes.js";
import type { UpstreamChange, UpstreamSource } from "./upstream/upstream-source.js";

export interface GroupLayerOptions {
  readonly source: Pick<UpstreamSource, "update">;
  readonly pending: PendingChanges;
  readonly known: Pick<GroupKnown, "report" | "findings" | "followed">;
}

/** The layer of a group: collections of the origin, and single resources that are asked for before a client does. */
export interface GroupLayer {
  /**
   * The change of a collection in one response: one atomic change of the layer, except for resources that must wait.
   */
  collection(type: ResourceType, update: Collection): void;
  /** A single resource; undefined: it does not exist. A waiting resource that names it keeps it. */
  single(type: ResourceType, name: ResourceName, received: ReceivedResource | undefined): void;
}

export function createGroupLayer({ source, pending, known }: GroupLayerOptions): GroupLayer {
  const { report, findings, followed } = known;
  function serve(changes: readonly OriginChange[]): void {
    const upsert: Resource[] = [];
    const remove: NonNullable<UpstreamChange["remove"]>[number][] = [];
    for (const { type, name, resource } of changes) {
      if (resource === undefined) remove.push({ type, name });
      else upsert.push(resource);
    }
    const applied = source.update({ upsert, remove });
    if (applied === undefined) return;
    const served = new Set(applied.upsert);
    for (const { type, name, resource } of changes) {
      if (resource !== undefined && !served.has(resource)) continue;
      findings.served(type, name);
      followed.set(type, name, resource);
    }
  }
  return {
    collection(type: ResourceType, { upserted, removed }: Collection) {
      const changes: OriginChange[] = [];
      for (const received of upserted) {
        const resource = servedAs(received, report);
        if (resource !== undefined) changes.push({ type, name: resource.key, resource });
      }
      for (const name of removed) changes.push({ type, name: canonicalName(name), resource: undefined });
      pending.take(changes, { removals: "if named", endsRollback: true }, serve);
    },
    single(type: ResourceType, name: ResourceName, received: ReceivedResource | undefined) {
      const resource = received && servedAs(received, report);
      if (received !== undefined && resource === undefined) return;
      const change = { type, name: canonicalName(name), resource };
      pending.take([change], { removals: "if named by what waits", endsRollback: true }, serve);
    },
  };
}

/**
 * Turns a received resource into one to serve: its version comes from its content, not from the origin. Undefined if
 * that fails.
 */
export function servedAs(received: ReceivedResource, report: GroupKnown["report"]): Resource | undefined {
  try {
    return received.resource();
  } catch (error) {
    if (!(error instanceof XdskitError)) throw error;
    report(error.findings.map((finding) => ({ ...finding, type: received.type.name, resource: received.name })));
    return undefined;
  }
}
