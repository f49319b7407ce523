import type { AdminApiOptions, ApiLayer, PeerAnswers } from "@xdskit/admin";
import type { AdminStore, AnySourceStatus, StoreNumbers } from "@xdskit/admin/listener";
import type { Fields } from "@xdskit/admin/log";
import type { Finding, Registry, Resource, Where } from "@xdskit/api";
import type { GroupSettings, ServerTls, SharedRollouts, XdsServer } from "@xdskit/server";
import type { FolderVersions } from "./replicas/folder-comparison.js";

/** The other servers of the store, as serving needs them. */
export interface ServedPeering {
  readonly name: string;
  readonly isPossible: boolean;
  /** Others are known by their certificates: not every one of the authority counts. */
  readonly knowsOthers: boolean;
  /** Nobody said that there are others, and none is there. */
  readonly isAlone: boolean;
  readonly peers: NonNullable<AdminApiOptions["peers"]>;
  join(answers: () => Promise<PeerAnswers>): Promise<void>;
}

/** The served parts of a command. */
export interface Served {
  readonly server: XdsServer;
  readonly registry: Registry;
  readonly settingsFile: string | undefined;
  /** Undefined: all nodes are one group. */
  readonly groups: readonly Pick<GroupSettings, "name" | "match">[] | undefined;
  readonly tls: ServerTls | undefined;
  /** The layers that the API shows and writes. */
  readonly layers: readonly ApiLayer[];
  /** The other servers of the store; undefined: there is no store. */
  readonly peering?: ServedPeering | undefined;
  /** Rollouts are one for all servers of the store; undefined: each server has its own. */
  readonly rollouts?: SharedRollouts | undefined;
  /** What is served of the folder now; undefined: there is no folder. Other servers of the store ask for it. */
  readonly folderVersions?: (() => FolderVersions) | undefined;
  /** The store cannot be read. */
  readonly storeAway?: AdminStore["away"];
  /** For metrics; undefined: nothing is kept. */
  readonly storeNumbers?: (() => StoreNumbers) | undefined;
  /** What is wrong with the state since the start; undefined: nothing. */
  readonly stateTrouble?: Finding | undefined;
  /** Calls a function at each new revision; undefined: there are none. */
  readonly onRevision?: AdminApiOptions["onRevision"];
  /** Where a resource of a group is, if that is known. */
  whereIs(group: string, resource: Pick<Resource, "type" | "key">): Where | undefined;
  /** The sources, for the admin pages. `about`: the findings about what groups are served. */
  sources(about: (...groups: readonly string[]) => readonly Finding[]): readonly AnySourceStatus[];
  /** Metrics besides the server's, in Prometheus' text format. */
  metrics?(): string;
  /** Resolves when the first configuration is there. Rejects with an XdskitError if there is none. */
  begin(): Promise<void>;
  /** Resolves when a group has everything; undefined: it has. */
  whole?(group: string): Promise<void> | undefined;
  /** What is said once it serves: `text` to people, `word` and `fields` to machines. */
  banner(): { readonly text: string; readonly word: string; readonly fields: Fields };
}
