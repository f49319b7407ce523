import { errorsIn, type Finding, throwIfAny } from "@xdskit/api";
import { type CheckedDirectory, checkDirectory, type Directory } from "../checking/check-directory.js";
import { type GroupPlan, planGroups } from "./group-plans.js";
import { changesOfLayers } from "./layer-changes.js";
import type { ShownChange } from "./shown-change.js";

/** Two folders, and what of them is compared. */
export interface FoldersToCompare {
  /** The folders before and after the change. */
  readonly old: string;
  readonly new: string;
  /** For both folders; by default each has its own. */
  readonly settings: string | undefined;
  readonly descriptors: readonly string[];
  /** Only this group. */
  readonly group: string | undefined;
}

/** What a change from one folder to another does. */
export interface ComparedFolders {
  readonly changes: readonly ShownChange[];
  readonly groups: readonly GroupPlan[];
  /** Warnings about the new folder. */
  readonly warnings: readonly Finding[];
}

/**
 * Compares two folders.
 * @throws XdskitError if one of them cannot be read or has errors; Error if neither has the group
 */
export async function compareFolders(options: FoldersToCompare): Promise<ComparedFolders> {
  const { old, new: next, settings, descriptors, group } = options;
  const from = await valid({ directory: old, settings, descriptors });
  const to = await valid({ directory: next, settings, descriptors });
  const plans = planGroups(from.groups, to.groups);
  const groups = plans.filter(({ name }) => group === undefined || name === group);
  if (groups.length === 0) {
    const names = plans.map(({ name }) => name).join(", ");
    throw new Error(`there is no group "${group}", only ${names}`);
  }
  const only =
    group === undefined ? undefined : new Set([...comparedLayers(from, group), ...comparedLayers(to, group)]);
  return { changes: changesOfLayers(from, to, only), groups, warnings: to.findings };
}

/** A folder that has only warnings. */
async function valid(directory: Directory): Promise<CheckedDirectory> {
  const checked = await checkDirectory(directory);
  throwIfAny(errorsIn(checked.findings));
  return checked;
}

function comparedLayers({ settings, layers }: CheckedDirectory, group: string): Iterable<string> {
  return settings.groups === undefined
    ? layers.keys()
    : (settings.groups.find(({ name }) => name === group)?.folders ?? []);
}
