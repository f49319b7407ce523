import type { Finding, Registry, ResourceTypes } from "@xdskit/api";
import type { LayerUpdate, RolledBack, Source } from "../../contracts/source.js";
import type { LayerWrite } from "../../contracts/stores/layer-writer.js";
import type { CommitInfo, Retention, Revision, Store } from "../../contracts/stores/store.js";
import type { XdsServer } from "../../contracts/xds-server.js";
import type { LayerName } from "../../settings/group-settings.js";
import type { AheadFile } from "./ahead-file.js";

/** The options of a kept source. */
export interface KeptSourceOptions {
  /** A folder needs `waits`: a source that rejects at the start has nothing kept served. */
  readonly source: Source;
  readonly store: Store;
  /**
   * Has what is served before the store has it, so that nothing is lost if the process is killed. Of this source alone.
   */
  readonly ahead?: AheadFile | undefined;
  /** The layers that the source fills, and no other writer of the store. */
  readonly layers: readonly LayerName[];
  readonly registry: Registry;
  readonly types: ResourceTypes;
  /** A function says it anew after each change. */
  readonly retention: Retention | (() => Retention);
  /** Whether a source with errors at the start has its last good revision served. Default true. */
  readonly restores?: boolean | undefined;
  /**
   * Says what the revision of these changes will say, but for the files, which each layer has of its own. Called soon
   * after the newest of them was applied. Undefined: what is served is no good configuration, and waits for the next
   * change.
   */
  readonly describe: (updates: readonly LayerUpdate[]) => CommitInfo | undefined | Promise<CommitInfo | undefined>;
  /** What is served of a layer now. A store that was restored from a backup is given that again. */
  readonly served?: XdsServer["layerSnapshot"] | undefined;
  /** The source has errors at the start: these revisions are served until it is valid. */
  readonly onRestored?: ((revisions: readonly Revision[]) => void) | undefined;
  /** The reasons for which the server would refuse a change (`checkChange`). A rollback asks before it is kept. */
  readonly check?: ((updates: readonly LayerUpdate[]) => readonly Finding[]) | undefined;
  /** A new revision of its layers is in the store, whichever server of the store has written it. */
  readonly onRevision?: ((revision: Revision) => void) | undefined;
  /** Other layers serve an older revision now: after a rollback, and when the source has changed a layer since. */
  readonly onRolledBack?: ((rolledBack: readonly RolledBack[]) => void) | undefined;
  /** Reports what the store cannot read or write. The source goes on without. Empty: it can be written again. */
  readonly onProblem: (findings: readonly Finding[]) => void;
}

/** The terms of a rollback. `condition` may throw in the rollback's turn, which prevents it. */
export type RollbackTerms = Pick<LayerWrite, "expected" | "condition" | "info">;
