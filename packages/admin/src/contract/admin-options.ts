import type { FieldStep, Finding, Registry, Resource, ResourceName, TypeUrl, Where } from "@xdskit/api";
import type { KeptSource, LayerName, Revision, Store, WrittenLayers, XdsServer } from "@xdskit/server";
import type { ApiCallerOf } from "./access.js";
import type { ProblemEntry } from "./answers.js";
import type { AuditReader } from "./audit.js";
import type { MomentRevision } from "./fleet.js";
import type { PeerServer } from "./peers.js";

/** A layer as the API shows it. */
export interface ApiLayer {
  /** As it stands in paths: the server's name, or another where that cannot stand there. */
  readonly name: string;
  /** Its name in the server. */
  readonly layer: LayerName;
  /** Whether it lies over or under what sources serve; null for a layer of a source. */
  readonly place: "over" | "under" | null;
  /** Whether its revisions survive a restart. */
  readonly durable: boolean;
  /** Where its revisions are; undefined: none are kept. */
  readonly store: Store | undefined;
  /**
   * The writer of the layer. `written`: the API. `kept`: a source whose revisions are kept, so that it can be rolled
   * back.
   */
  readonly filled:
    | { readonly by: "api"; readonly written: WrittenLayers }
    | { readonly by: "source"; readonly kept: KeptSource | undefined };
}

/** Where a resource of a group is written; undefined: it is not known. */
export type WhereIs = (
  group: string,
  resource: { readonly type: TypeUrl; readonly key: ResourceName },
) => Where | undefined;

/** Where a field of a resource is written, from where the resource is; undefined: it is not known. */
export type WhereField = (where: Where, resource: Resource, steps: readonly FieldStep[]) => Where | undefined;

/** A source, as far as its problems go. */
export interface SourceReport {
  readonly name: string;
  /** The server that reads it; missing: there is one server only. */
  readonly replica?: string;
  /** Each kind of source has its own states. */
  readonly state: string;
  readonly findings: readonly Finding[];
  /** The last error of an origin, however old. */
  readonly lastError?: { readonly at: string; readonly message: string } | null;
  /**
   * The last good revision, which is served since a start with errors: its name, and when it was made (ISO 8601). Null
   * or missing: the source's own content is served.
   */
  readonly restored?: { readonly revision: string; readonly time: string } | null;
  /**
   * An older revision is served until the source changes: the revision that the rollback made, the one that it led to,
   * and when. Null or missing: there was no rollback since the source changed.
   */
  readonly rolledBack?: {
    readonly revision: string;
    readonly to: string;
    readonly layer: string;
    readonly time: string;
  } | null;
}

/** Something that is wrong with the server itself now. */
export interface Trouble {
  /**
   * `store`: revisions cannot be kept or read now, or what the store had at the start is not served. `settings`: a
   * restart would fail. `client`: clients come again and again, and get nowhere.
   */
  readonly kind: "certificate" | "store" | "settings" | "client";
  readonly severity: "error" | "warning";
  /** What is wrong, in a few words. Default: a sentence for the kind. */
  readonly title?: string | undefined;
  readonly message: string;
  /** Milliseconds since 1970. */
  readonly since: number;
  /** When a certificate expires, or did; milliseconds since 1970. */
  readonly expires?: number | undefined;
  readonly where?: ProblemEntry["where"] | undefined;
}

/** What happened in one stretch of time, on one server or on several. */
export interface ActivitySample {
  /** When it began, in milliseconds since 1970: a multiple of the step. */
  readonly at: number;
  /** Responses that were sent, without heartbeats. */
  readonly pushes: number;
  /** Responses that clients rejected. */
  readonly rejections: number;
  /** The most nodes from which rollouts kept something back. */
  readonly heldBack: number;
}

/** What remembers what happened in the last half hour. */
export interface ActivityKeeper {
  /** From the oldest to the newest, which goes on. */
  samples(): readonly ActivitySample[];
}

/** What remembers which revision brought a version of a type to clients. */
export interface VersionKeeper {
  /** What brought it last at that time; `at`: milliseconds since 1970. Undefined: it is not known. */
  revisionOf(type: string, version: string, at: number): MomentRevision | undefined;
}

/** The parts that the API shows, and acts on. */
export interface AdminApiOptions {
  readonly server: XdsServer;
  readonly registry: Registry;
  /** From the lowest to the highest. */
  readonly layers: readonly ApiLayer[];
  /** Calls a function at each new revision; returns a function that ends it. Undefined: no event tells of revisions. */
  readonly onRevision?: ((listener: (revision: Revision) => void) => () => void) | undefined;
  /** The other servers of the store, as they are known now; what they say of nodes and changes counts here, too. */
  readonly peers?: (() => readonly PeerServer[]) | undefined;
  /** The name of this server among others. Default: the name of its host. */
  readonly replica?: string | undefined;
  /** Where a resource of a group is written, if that is known. `type`: a type URL. */
  readonly whereIs?: WhereIs | undefined;
  /** Where a field that a client rejected is written. */
  readonly whereField?: WhereField | undefined;
  /** The sources of all servers of the store, and what is wrong with them. */
  readonly sources?: (() => readonly SourceReport[] | Promise<readonly SourceReport[]>) | undefined;
  /** The troubles besides nodes and sources: certificates, the store. */
  readonly troubles?: (() => readonly Trouble[]) | undefined;
  /** What happened in the last half hour. Default: what happens from now on. */
  readonly activity?: ActivityKeeper | undefined;
  /** Which revision brought a version of a type. Default: those from now on. */
  readonly versions?: VersionKeeper | undefined;
  /** Who did what. Default: it is not kept. */
  readonly audit?: AuditReader | undefined;
  /** Who may do what. Default: everybody may do everything. */
  readonly callerOf?: ApiCallerOf | undefined;
  /** The version of the program, for the OpenAPI document. */
  readonly version: string;
}
