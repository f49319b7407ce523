import type { Finding, Registry, ResourceType } from "@xdskit/api";
import type { ClientOptions, ValidateLevel } from "@xdskit/client";
import type { LayerName, ServerOptions } from "@xdskit/server";
import type { ServerSettingsInFull, WatchedCollection } from "./groups/upstream/upstream-types.js";
import type { NackPolicy } from "./groups/verdict.js";

/** How one group of nodes gets an origin's resources. */
export interface RelayedGroup {
  readonly name: string;
  /** The part of the server's options that says what the group's nodes are served. */
  readonly layer: LayerName;
  /** The relay's node for this group: it decides what the origin gives the group. */
  readonly node: ClientOptions["node"];
  readonly collections: readonly WatchedCollection[];
  /** Ask for every named resource before a client does. */
  readonly prefetch: boolean;
}

/** What a relay asks of its origin, for which groups, and how it serves that. */
export interface RelayOptions {
  /** Without `onDemand`. */
  readonly server: ServerOptions;
  readonly groups: readonly RelayedGroup[];
  /** The origin's servers: at least one, all of one kind. */
  readonly servers: readonly ServerSettingsInFull[];
  /** Further options of each group's client; for tests. */
  readonly client?: Partial<ClientOptions> | undefined;
  readonly registry?: Registry | undefined;
  /** The folder of the cache; it has a folder for each group. Undefined: no cache. */
  readonly cache?: string | undefined;
  readonly nack: NackPolicy;
  readonly ackWaitMs: number;
  /**
   * How long a change may wait for others that the origin should have sent before it. 0: not at all. Default 15,000.
   */
  readonly holdMs?: number | undefined;
  /**
   * How long an origin that answers must say nothing about what is asked for as a whole before that counts as empty.
   * Default 15,000.
   */
  readonly silenceMs?: number | undefined;
  /** How long a name stays subscribed after its last client left. Default 1,000. */
  readonly lingerMs?: number | undefined;
  /** How strictly to check the origin's resources and the cache. Default `types`: clients judge them themselves. */
  readonly validate?: ValidateLevel | undefined;
  /** How many names all clients together may ask for, see `OnDemandOptions`. Default 200,000. */
  readonly names?: number | undefined;
  /** Told of resources that could not be served or read from the cache, and what happened to them. */
  report(group: string, findings: readonly Finding[]): void;
  cacheFailed(group: string, error: unknown): void;
  /** The origin is told that clients rejected something. */
  rejected(group: string, type: ResourceType, reason: string): void;
}
