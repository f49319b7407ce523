import { posix } from "node:path";
import {
  checkCall,
  type Finding,
  numberOptions,
  type ReadResourcesOptions,
  type TableOf,
  throwIfAny,
  XdskitError,
} from "@xdskit/api";
import type { LayerName } from "../../settings/group-settings.js";
import type { FolderSummary } from "./folder-summary.js";
import { leastPollMs } from "./scanning/poll-wait.js";

/** The extensions of files that hold resources, in any case. Everything else in the folder is left alone. */
export const resourceFileExtensions: ReadonlySet<string> = new Set([
  ".yaml",
  ".yml",
  ".json",
  ".pb",
  ".pb_text",
  ".textproto",
]);

/** The name of the layer if the whole folder is one. */
export const wholeFolderLayer: LayerName = ".";

/** The limits of one folder. Beyond a limit there is a finding, and the last good configuration stays. */
export interface FolderLimits {
  /**
   * Bytes of one file; a larger file is not read at all. Default: 64 MiB. A long file is read in a separate thread;
   * YAML of 16 MiB takes some seconds there.
   */
  readonly fileBytes: number;
  /** Files with resources, over all folders. Default: 100,000. */
  readonly files: number;
  /** Folders within folders. Default: 32. */
  readonly depth: number;
  /** Findings in one report; the last one gives the number of the others. Default: 100. */
  readonly findings: number;
}

/** The default limits. */
export const defaultFolderLimits: FolderLimits = {
  fileBytes: 64 * 1024 * 1024,
  files: 100_000,
  depth: 32,
  findings: 100,
};

/** The times of a folder that nobody set, in milliseconds; a folder that takes long to look at is polled less often. */
export const defaultFolderTimes = { settleMs: 100, pollMs: leastPollMs };

/** A group of nodes, and the layers that it has. */
export interface FolderGroup {
  readonly name: string;
  readonly layers: readonly LayerName[];
}

/** Options for reading and watching a folder. */
export interface FolderSourceOptions {
  /** The folder, or a symbolic link to it. Findings show files with this path in front. */
  readonly directory: string;
  /**
   * Folders relative to `directory`, each a separate layer whose name is the string given here. A file belongs to every
   * layer whose folder it is in; files in none are not served. Undefined means that the whole folder is one layer,
   * `wholeFolderLayer`.
   */
  readonly layers?: readonly LayerName[] | undefined;
  /**
   * Groups of nodes, such as those of `createServer`. If none of the folders of a group exists at the start, that is an
   * error (a warning with `allowEmpty`): its nodes would lose everything. Groups with layers of other sources are
   * ignored.
   */
  readonly groups?: readonly FolderGroup[] | undefined;
  /** Files that hold no resources, such as the settings: relative to `directory`, or absolute. */
  readonly ignore?: readonly string[] | undefined;
  /** Start even if nothing can be served yet, and allow all files to go away later. Default: false. */
  readonly allowEmpty?: boolean | undefined;
  /**
   * While nothing is served yet, serve the files without errors and leave the others out. Clients then lose resources
   * of the others that they had before a restart. False: `start` waits until every file is valid. Default: false.
   */
  readonly allowPartial?: boolean | undefined;
  /**
   * Wait at the start for a folder with a valid file if there is none yet, or while what it has is refused. False:
   * `start` rejects then. Default: false.
   */
  readonly waits?: boolean | undefined;
  /**
   * The handling of errors in resources. `refuse`: the change is refused as a whole, and the last good configuration
   * stays. `skip`: the rest is served, also at the start. A resource that was served keeps its last good content as
   * long as a file names it; so do all resources of a file that can no longer be read. A resource that was never valid
   * is not served. Default: `refuse`.
   */
  readonly onInvalid?: "refuse" | "skip" | undefined;
  /** Milliseconds of quiet after the last change before files are read. Default: 100. */
  readonly settleMs?: number | undefined;
  /**
   * Milliseconds after which files are read although changes still come. Default: ten times `settleMs`, at least 1,000.
   */
  readonly maxSettleMs?: number | undefined;
  /**
   * Milliseconds without a write in place before files are read: a program that writes in place may pause half-way.
   * After twenty times as long files are read all the same. A renamed file is whole, and waits for `settleMs` alone.
   * Default: five times `settleMs`.
   */
  readonly writeSettleMs?: number | undefined;
  /**
   * Milliseconds between two looks at the metadata of all files, which find changes that the operating system did not
   * report (network file systems, watches used up). Default: 2,000, or twenty times the duration of one look if that
   * is longer, but at most 30,000. 0 turns it off.
   */
  readonly pollMs?: number | undefined;
  readonly limits?: Partial<FolderLimits> | undefined;
  /** Options for reading files: own descriptor sets, own resource types, validation. */
  readonly read?: ReadResourcesOptions | undefined;
  /** Called after every reading that found something to do, for logs and people. */
  readonly onRead?: ((summary: FolderSummary) => void) | undefined;
}

/** Throws an XdskitError (XDSKIT_FOLDER_OPTION) for unknown options, or options of the wrong kind. */
export function checkFolderOptions(options: unknown): void {
  const table = {
    directory: "string",
    layers: "list",
    groups: "list",
    ignore: "list",
    allowEmpty: "boolean",
    allowPartial: "boolean",
    waits: "boolean",
    onInvalid: "string",
    settleMs: "number",
    writeSettleMs: "number",
    maxSettleMs: "number",
    pollMs: "number",
    limits: { options: numberOptions(defaultFolderLimits) },
    read: "object",
    onRead: "function",
  } satisfies TableOf<FolderSourceOptions>;
  const example = '{ directory: "./config" }';
  checkCall({ call: "createFolderSource", code: "XDSKIT_FOLDER_OPTION", example, table }, options);
  if ((options as FolderSourceOptions).directory === undefined)
    throw XdskitError.of("XDSKIT_FOLDER_OPTION", `createFolderSource needs a directory, such as ${example}`);
}

/** The place of a layer's files. */
export interface LayerFolder {
  readonly name: LayerName;
  /** Relative to the directory, with `/`, normalized; `.` is the directory itself. */
  readonly path: string;
}

/**
 * The folders of the layers, checked.
 * @throws XdskitError XDSKIT_FOLDER_OPTION for a folder that is not below the directory
 */
export function layerFolders(layers: readonly LayerName[] | undefined): readonly LayerFolder[] {
  const names = layers === undefined ? [wholeFolderLayer] : [...new Set(layers)];
  const findings: Finding[] = [];
  const folders = names.map((name) => {
    const path = posix.normalize(name.replaceAll("\\", "/")).replace(/\/+$/, "") || "/";
    if (name === "" || posix.isAbsolute(path) || path === ".." || path.startsWith("../")) {
      const message = `${JSON.stringify(name)} is not a folder below the configuration folder`;
      findings.push({ code: "XDSKIT_FOLDER_OPTION", severity: "error", message });
    } else if (path.split("/").some((part) => part.startsWith(".") && part !== ".")) {
      const message = `${JSON.stringify(name)} is a dot folder, which is never read`;
      findings.push({ code: "XDSKIT_FOLDER_OPTION", severity: "error", message });
    }
    return { name, path };
  });
  throwIfAny(findings);
  return folders;
}

/** Whether a path (relative, with `/`) is in a folder, or is that folder. */
export function isWithin(path: string, folder: string): boolean {
  return folder === "." || path === folder || path.startsWith(`${folder}/`);
}
