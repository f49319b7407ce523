import { maxListed } from "@xdskit/api";
import type { FolderSummary } from "./folder-summary.js";
import type { IndexedChange } from "./layer-index.js";

/** A change in words. */
export type ChangeSummary = Pick<FolderSummary, "upserted" | "removed" | "changed" | "changedFiles" | "changedLayers">;

/** The size of the change and its first resources. Costs the change. */
export function summaryOf(changes: readonly IndexedChange[]): ChangeSummary {
  const upserted: string[] = [];
  const removed: string[] = [];
  const files = new Set<string>();
  const layers = new Set<string>();
  const counts = { upserted: 0, removed: 0 };
  for (const { update, upserted: added, removed: gone } of changes) {
    const { layer, upsert, remove = [], files: from = [] } = update;
    if (added.length + gone.length > 0) layers.add(layer);
    counts.upserted += added.length;
    counts.removed += gone.length;
    for (const { type, name } of first(upsert, upserted)) upserted.push(`${type.name} ${name}`);
    for (const { type, name } of first(remove, removed)) removed.push(`${type.name} ${name}`);
    for (const file of from) {
      if (files.size === maxListed) break;
      files.add(file);
    }
  }
  return { ...counts, changed: { upserted, removed }, changedFiles: [...files], changedLayers: [...layers] };
}

/** As many as there is still room for. */
function first<Item>(items: readonly Item[], listed: readonly string[]): readonly Item[] {
  return items.slice(0, maxListed - listed.length);
}
