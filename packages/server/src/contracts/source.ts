import type { Finding, Resource, Where } from "@xdskit/api";
import type { LayerName } from "../settings/group-settings.js";
import type { RevisionId } from "./stores/store.js";

/** A change of some layers: all of it, or nothing. */
export interface LayerUpdate {
  readonly layer: LayerName;
  /** `replace`: the layer holds exactly `upsert` afterwards. `patch`: only the named resources change. */
  readonly kind: "replace" | "patch";
  readonly upsert: readonly Resource[];
  /** `name` is a resource's name, which means all variants of it, or the key of one. */
  readonly remove?: readonly { readonly type: Resource["type"]; readonly name: Resource["name"] }[];
  /** The files that what changes is in, or was before. A kept source is told them when it describes the revision. */
  readonly files?: readonly string[];
}

/** A step into the past of a source. */
export interface StepBack {
  /** Leads to the state before: from the result of the previous step, or from the current state for the first step. */
  readonly back: readonly LayerUpdate[];
  /** Undoes `back`. */
  readonly forward: readonly LayerUpdate[];
}

/** A layer of a source that serves an older revision until the source changes it. */
export interface RolledBack {
  readonly layer: LayerName;
  /** The revision that the rollback made. */
  readonly revision: RevisionId;
  readonly to: RevisionId;
  /** In milliseconds since 1970. */
  readonly time: number;
}

/** How a change of a source is applied. */
export interface ApplyOptions {
  /** False: references and addresses are not judged: another server judged the change already. Default: true. */
  readonly isJudged?: boolean;
  /**
   * What the source had before a restart. While nodes are told nothing, references and addresses are judged as if the
   * server had that. Empty: it had nothing; then only names that nobody has count, with `references: "strict"`.
   * Default: nothing is judged then.
   */
  readonly since?: readonly LayerUpdate[] | undefined;
  /** It is what the source had before a restart: its change that was refused is still tried again. Default: false. */
  readonly isRestored?: boolean;
}

/** The server's side for a source's content. */
export interface SourceSink {
  /**
   * Call it before the first change, with the same updates, and wait: what the change is judged by may have to be read.
   * Does not reject. A source that does not call it starts with what it has, and nothing is judged.
   */
  prepare?(updates: readonly LayerUpdate[]): Promise<void>;
  /** Applies one atomic change of any number of layers. Unchanged resources are sent to no client. */
  apply(updates: readonly LayerUpdate[], how?: ApplyOptions): void;
  /**
   * How many milliseconds a change took from when the source heard of it until `apply` had published it: `ServerStats`
   * counts that by source. A source that does not know it says nothing.
   */
  took?(ms: number): void;
  /** Why a change would be refused now; empty: it would be applied. Changes nothing, and tells nobody. */
  check?(updates: readonly LayerUpdate[]): readonly Finding[];
  /** The source has nothing in a layer any more: the server forgets the layer. */
  drop?(layer: LayerName): void;
  /**
   * Tells the states that the source had when a server served it before, newest first: the first step leads back from
   * what the source has applied. Clients that still have one of these states are brought to the current one make before
   * break. Call it at most once, between the first change and the end of `start`. It is not checked that the steps fit.
   * Once nodes are told something, it does nothing.
   */
  resume?(steps: readonly StepBack[]): void;
  /**
   * How far back clients may still use what a change replaced, in milliseconds: connections drain from old listeners.
   * Steps of this time are worth more than those before.
   */
  readonly rememberedMs?: number;
  /**
   * The state of the source as of its last attempt: no findings of severity `error` means that it was applied.
   * `inPart`: what it applied last lacks what had errors. Default: false.
   */
  report(findings: readonly Finding[], how?: { readonly inPart?: boolean }): void;
  /**
   * Something that the source had before is not served, or what it has cannot be kept. The server's status shows it
   * from now on.
   */
  incomplete?(finding: Finding): void;
  /** These layers, and no others, serve an older revision now. The server's status shows them. */
  rolledBack?(layers: readonly RolledBack[]): void;
  /**
   * The source is closed for good: the server keeps nothing of it but what it applied. A source that does not say it is
   * kept, and closed, until the server closes.
   */
  ended?(): void;
}

/** Brings resources into a server: a folder, a store, an upstream. */
export interface Source {
  readonly name: string;
  /**
   * Resolves when the first configuration was applied; rejects if there is none to apply. Later changes come through
   * the sink.
   */
  start(sink: SourceSink): Promise<void>;
  /**
   * Its last change was refused because of references (`references: "refuse"`) or addresses (`addresses`), and now
   * another change makes it complete. The source should apply it again. A source without this method applies it with
   * its next change.
   */
  retry?(): void;
  /**
   * Resolves once everything that others had written by the time of the call is applied. Rejects if it cannot be read
   * now. Asked when a client comes from another server with content that this one does not know. Undefined, as without
   * this method: nobody else writes now.
   */
  catchUp?(): Promise<void> | undefined;
  /** Where a resource of one of its layers is written; undefined: it is not known. Errors about the resource say it. */
  whereIs?(layer: LayerName, resource: Pick<Resource, "type" | "key">): Where | undefined;
  /** The file that a resource of one of its layers is in, as `LayerUpdate.files` names it. */
  fileOf?(layer: LayerName, resource: Pick<Resource, "type" | "key">): string | undefined;
  close(): Promise<void>;
}
