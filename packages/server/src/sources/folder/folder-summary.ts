import type { Adoption, Finding, Resource, Where } from "@xdskit/api";
import type { LayerName } from "../../settings/group-settings.js";

/** The number of skipped resources, over all layers. */
export interface SkippedCounts {
  /** Resources whose last good content stays. */
  readonly lastGood: number;
  /** Resources that are not served, since they were never good. */
  readonly absent: number;
}

/** The result of a file of another kind, with the path that findings show. */
export interface AdoptedFile extends Adoption {
  readonly file: string;
}

/** The result of one reading of a folder, for the command's output and the metrics. */
export interface FolderSummary {
  /** As it was given in the options. */
  readonly directory: string;
  /** Existing files with resources. */
  readonly files: number;
  /** Files whose bytes were read this time; the others had not changed. */
  readonly read: number;
  /** The read files with other bytes than before, which were parsed. */
  readonly parsed: number;
  /** Whether the reading was applied. False: the last good configuration stays, see `findings`. */
  readonly applied: boolean;
  /**
   * Whether any configuration is served, this one or one before. False: the errors at the start must be fixed first.
   */
  readonly serving: boolean;
  /**
   * With `onInvalid: "skip"`, the number of resources that have errors and are skipped, over all layers; `findings` say
   * which and why. An unreadable file that had nothing before counts as one. Otherwise undefined.
   */
  readonly skipped: SkippedCounts | undefined;
  /** The number of resources that the change upserted and removed, over all layers. */
  readonly upserted: number;
  readonly removed: number;
  /** The first ten of each, as people type them (`cluster web`). */
  readonly changed: { readonly upserted: readonly string[]; readonly removed: readonly string[] };
  /** The files that they are in, or were: relative to the directory, the first ten. */
  readonly changedFiles: readonly string[];
  /** The changed layers. */
  readonly changedLayers: readonly LayerName[];
  /** Resources that are served now: by layer, then by the type's name, such as `cluster`. */
  readonly resources: ReadonlyMap<LayerName, ReadonlyMap<string, number>>;
  /**
   * The place of a resource's definition in a layer; undefined if it does not exist. Answers for now, not for this
   * reading.
   */
  readonly whereIs: (layer: LayerName, resource: Pick<Resource, "type" | "key">) => Where | undefined;
  readonly findings: readonly Finding[];
  /** The results of files of another kind than resources: a bootstrap, a config dump. */
  readonly adopted: readonly AdoptedFile[];
  /** The time from the end of the settling time to here. */
  readonly durationMs: number;
}
