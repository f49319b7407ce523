import { open } from "node:fs/promises";
import { matchesGlob } from "@xdskit/server";
import { type AuditEntry, type AuditQuery, auditActions } from "../contract/audit.js";
import { noSuchValue } from "../contract/known-values.js";

/** An entry of a line; undefined: it is none. */
export function auditEntryOf(line: string): AuditEntry | undefined {
  try {
    const entry = JSON.parse(line) as AuditEntry;
    return typeof entry.time === "string" && typeof entry.action === "string" ? entry : undefined;
  } catch {
    return undefined;
  }
}

/** Whether an entry is asked for. */
export function isAskedFor(entry: AuditEntry, { who, action, result }: AuditQuery): boolean {
  if (who !== undefined && (entry.who === null || !matchesGlob(who, entry.who))) return false;
  return (action === undefined || matchesGlob(action, entry.action)) && (result ?? entry.result) === entry.result;
}

/** Why nothing can have an action that is asked for; undefined: something can. */
export function auditActionFault(pattern: string): string | undefined {
  if (auditActions.some((action) => matchesGlob(pattern, action))) return undefined;
  return noSuchValue("action", pattern, auditActions);
}

/** So much of a file's end is read for one page: some 20,000 lines. */
const maxBytes = 4 * 1024 * 1024;

/** The newest entries in a file, the newest first. `isWhole`: there are no older ones that are asked for. */
export async function newestEntries(
  file: string,
  query: AuditQuery,
  limit: number,
): Promise<{ readonly entries: readonly AuditEntry[]; readonly isWhole: boolean }> {
  const { text, isWhole } = await endOf(file);
  const entries: AuditEntry[] = [];
  for (const line of text.split("\n").reverse()) {
    const entry = line === "" ? undefined : auditEntryOf(line);
    if (entry === undefined || !isAskedFor(entry, query)) continue;
    if (entries.length === limit) return { entries, isWhole: false };
    entries.push(entry);
  }
  return { entries, isWhole };
}

/** Without the part of a line that it begins with. */
async function endOf(file: string): Promise<{ readonly text: string; readonly isWhole: boolean }> {
  const handle = await open(file).catch((error: NodeJS.ErrnoException) => {
    // Nothing was noted yet, or somebody moved it away just now.
    if (error.code === "ENOENT") return undefined;
    throw error;
  });
  if (handle === undefined) return { text: "", isWhole: true };
  try {
    const { size } = await handle.stat();
    const from = Math.max(0, size - maxBytes);
    const { buffer, bytesRead } = await handle.read({ buffer: Buffer.alloc(size - from), position: from });
    const text = buffer.toString("utf8", 0, bytesRead);
    return from === 0 ? { text, isWhole: true } : { text: text.slice(text.indexOf("\n") + 1), isWhole: false };
  } finally {
    await handle.close();
  }
}
