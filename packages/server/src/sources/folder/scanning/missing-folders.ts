import { join } from "node:path";
import { didYouMean, type Finding, listNames } from "@xdskit/api";
import type { FullFolderOptions } from "../full-folder-options.js";
import type { Scan } from "./scan.js";

/**
 * Makes the findings for missing folders. A folder that existed before (`seen`) is an error; any other may come later,
 * since git keeps no empty ones. If a group has none of its folders, its clients would lose everything.
 */
export function missingFolders(
  missing: Scan["missing"],
  { directory, layers, groups = [], allowEmpty }: FullFolderOptions,
  seen: ReadonlySet<string>,
): readonly Finding[] {
  const findings = missing.map(({ path, reason }): Finding => {
    const isError = seen.has(path) || (path === "." && !allowEmpty);
    const what = path === "." ? "the configuration folder" : "the folder of a layer";
    const consequence = seen.has(path) ? "; the last good configuration stays" : "";
    const message = `cannot read ${what}: ${reason}${consequence}`;
    return {
      code: "XDSKIT_FOLDER_MISSING",
      severity: isError ? "error" : "warning",
      message,
      file: join(directory, path),
    };
  });
  const absent = new Map(missing.map((folder) => [folder.path, folder]));
  // If the directory itself is missing, nothing else is known.
  if (absent.size === 0 || absent.has(".")) return findings;
  const pathOf = new Map(layers.map(({ name, path }) => [name, path]));
  for (const group of groups) {
    const paths = group.layers.map((name) => pathOf.get(name) ?? name);
    // Folders that existed once are errors already.
    if (paths.length === 0 || !paths.every((path) => absent.has(path) && !seen.has(path))) continue;
    const meant = paths.map((path) => didYouMean(path, absent.get(path)?.beside ?? [])).find((text) => text !== "");
    findings.push({
      code: "XDSKIT_GROUP_FOLDERS",
      severity: allowEmpty ? "warning" : "error",
      message: `group ${JSON.stringify(group.name)} has none of its folders (${listNames(group.layers)}): its clients would be told that there is nothing${meant ?? ""}`,
      file: join(directory, paths[0] as string),
    });
  }
  return findings;
}
