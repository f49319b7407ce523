import { resolve } from "node:path";
import { longestTimerMs, type ReadResourcesOptions, XdskitError } from "@xdskit/api";
import {
  checkFolderOptions,
  defaultFolderLimits,
  defaultFolderTimes,
  type FolderGroup,
  type FolderLimits,
  type FolderSourceOptions,
  type LayerFolder,
  layerFolders,
} from "./folder-options.js";

/** The options of a folder, checked and with nothing left out. */
export interface FullFolderOptions {
  /** As findings show it. */
  readonly directory: string;
  readonly absolute: string;
  readonly layers: readonly LayerFolder[];
  /** Undefined means that each layer is judged by itself. */
  readonly groups: readonly FolderGroup[] | undefined;
  /** Absolute paths of files to leave out. */
  readonly ignored: ReadonlySet<string>;
  readonly allowEmpty: boolean;
  readonly allowPartial: boolean;
  readonly waits: boolean;
  /** Whether resources with errors are skipped. If not, a file counts as a whole or not at all. */
  readonly skips: boolean;
  readonly settleMs: number;
  readonly maxSettleMs: number;
  readonly writeSettleMs: number;
  /** Undefined: it follows the duration of a look. */
  readonly pollMs: number | undefined;
  readonly limits: FolderLimits;
  readonly read: ReadResourcesOptions | undefined;
}

/** Throws an XdskitError (XDSKIT_FOLDER_OPTION) for an invalid option. */
export function fullFolderOptions(options: FolderSourceOptions): FullFolderOptions {
  checkFolderOptions(options);
  const { directory, allowEmpty = false, allowPartial = false, waits = false, onInvalid = "refuse", read } = options;
  const settleMs = time("settleMs", options.settleMs ?? defaultFolderTimes.settleMs);
  const maxSettleMs = time("maxSettleMs", options.maxSettleMs ?? Math.max(1000, settleMs * 10));
  const writeSettleMs = time("writeSettleMs", options.writeSettleMs ?? settleMs * 5);
  const pollMs = options.pollMs === undefined ? undefined : time("pollMs", options.pollMs);
  const layers = layerFolders(options.layers);
  if (onInvalid !== "skip" && onInvalid !== "refuse") {
    const message = `onInvalid must be "refuse" or "skip", not ${JSON.stringify(onInvalid)}`;
    throw XdskitError.of("XDSKIT_FOLDER_OPTION", message);
  }
  const absolute = resolve(directory);
  const names = new Set(layers.map(({ name }) => name));
  return {
    directory,
    absolute,
    layers,
    allowEmpty,
    allowPartial,
    waits,
    read,
    settleMs,
    maxSettleMs,
    writeSettleMs,
    pollMs,
    skips: onInvalid === "skip",
    groups: options.groups?.filter((group) => group.layers.every((name) => names.has(name))),
    ignored: new Set((options.ignore ?? []).map((path) => resolve(absolute, path))),
    limits: { ...defaultFolderLimits, ...options.limits },
  };
}

/** The time for a timer. */
function time(option: string, value: number): number {
  if (Number.isFinite(value) && value >= 0) return Math.min(value, longestTimerMs);
  throw XdskitError.of("XDSKIT_FOLDER_OPTION", `${option} must be milliseconds, not ${value}`);
}
