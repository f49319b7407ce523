import {
  type Finding,
  isCollection,
  type Reference,
  type Resource,
  type ResourceType,
  type ResourceTypes,
} from "@xdskit/api";
import type { ClientEvent, XdsClient } from "@xdskit/client";
import { type FollowedNames, type Snapshot, statusCode } from "@xdskit/protocol";
import type { LayerName, XdsServer } from "@xdskit/server";
import { createOriginResources, type OriginResources } from "../cache/origin-resources.js";
import type { CachedStart, FoundInCache } from "./cached-start.js";
import { createFollowed, type FollowedReferences } from "./followed-references.js";
import { createGroupFindings } from "./group-findings.js";
import type { PendingChangesOptions } from "./pending/pending-changes.js";
import { createPrefetchedNames, type PrefetchedNames, type PrefetchedNamesOptions } from "./prefetched-names.js";
import { type AwaitedTypes, createAwaitedTypes } from "./upstream/awaited-types.js";
import { createUpstreamStanding, type UpstreamStanding } from "./upstream/upstream-standing.js";

export interface GroupKnownOptions extends PrefetchedNamesOptions {
  /** The group's name. */
  readonly group: string;
  readonly layer: LayerName;
  readonly server: XdsServer;
  /** How long a change may wait for others that the origin should have sent before it. */
  readonly holdMs: number;
  report(findings: readonly Finding[]): void;
}

/**
 * - `starting`: the first answers, from the origin or the cache, are not all there.
 * - `started`: what comes is a change.
 * - `closed`: nothing that ends is told any more.
 */
type GroupPhase = "starting" | "started" | "closed";

/** What a group knows of its origin, of its cache and of what it serves. It asks for nothing by itself. */
export class GroupKnown implements PendingChangesOptions {
  readonly #options: GroupKnownOptions;
  #phase: GroupPhase = "starting";
  readonly types: ResourceTypes;
  readonly maxMs: number;
  readonly cached: CachedStart;
  readonly asked: PrefetchedNames;
  readonly retained: OriginResources;
  readonly standing: UpstreamStanding;
  readonly followed: FollowedReferences;
  readonly awaited: AwaitedTypes;
  readonly findings = createGroupFindings();
  readonly report: (findings: readonly Finding[]) => void;

  constructor(options: GroupKnownOptions, { start, types: found, findings: wrong }: FoundInCache) {
    const { server, layer, holdMs } = options;
    const config = server.config.layer(layer);
    this.#options = options;
    this.types = server.types;
    this.maxMs = holdMs;
    this.cached = start;
    this.asked = createPrefetchedNames(options, server.types);
    this.retained = createOriginResources(found);
    this.standing = createUpstreamStanding(start.isServed);
    this.followed = createFollowed(this.asked.isFollowed);
    this.awaited = createAwaitedTypes(start.damaged, (types) =>
      config.awaits(Array.from(types, ({ typeUrl }) => typeUrl)),
    );
    this.report = (findings) => {
      this.findings.report(findings);
      options.report(findings);
    };
    this.report(wrong);
  }

  get phase(): GroupPhase {
    return this.#phase;
  }

  /** The first answers are there. */
  started(): void {
    if (this.#phase === "starting") this.#phase = "started";
  }

  close(): void {
    this.#phase = "closed";
  }

  /** Something happened at the client. Returns whether the origin is back. */
  event(event: ClientEvent, client: Pick<XdsClient, "status" | "isConnected">): boolean {
    if (event.kind === "connected") this.awaited.connected(event.type);
    if (event.kind === "disconnected" && event.type !== undefined && event.error?.code === statusCode.unimplemented) {
      // Another server of the origin may know the type.
      if (client.status().length === 1 && this.awaited.notOffered(event.type)) this.retained.touch(event.type);
    }
    return this.standing.event(event, client.isConnected);
  }

  snapshot(): Snapshot | undefined {
    const { server, group, layer } = this.#options;
    return server.snapshotOf(group) ?? server.layerSnapshot(layer);
  }

  names(): FollowedNames | undefined {
    return this.#options.server.danglingNames(this.#options.group);
  }

  get isAway(): boolean {
    return !this.standing.isConnected;
  }

  isAbsent(reference: Reference): boolean {
    return this.followed.isAbsent(reference);
  }

  waits(key: string, type: ResourceType, resource: Resource | undefined): void {
    this.followed.set(type, `waiting: ${key}`, resource);
    // The cache has what is served.
    this.retained.touch(type);
  }

  /**
   * Names in collections that are asked for and were answered, and names that are asked for because something names
   * them. At the start, and while the origin is away, no change begins to wait for a name.
   */
  mayCome(reference: Reference): boolean {
    if (this.#phase !== "started" || this.isAway || isCollection(reference)) return false;
    if (this.asked.isFollowed(reference)) return !this.isAbsent(reference);
    const type = this.types.byTypeUrl(reference.type)?.type;
    return type !== undefined && this.asked.isInCollection(reference) && !this.awaited.has(type);
  }
}
