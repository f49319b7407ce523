import { readFileSync } from "node:fs";

/** Standard streams, and what Node.js itself has open. */
const ownFiles = 40;

/** How many files this process may have open, which is what `ulimit -n` says; undefined where that is not known, or without a limit. */
function fileLimit(): number | undefined {
  try {
    const [, soft] = /^Max open files\s+(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8")) ?? [];
    return soft === undefined ? undefined : Number(soft);
  } catch {
    // Not Linux.
  }
  const report = process.report.getReport() as {
    readonly userLimits?: { readonly open_files?: { readonly soft?: unknown } };
  };
  const soft = report.userLimits?.open_files?.soft;
  return typeof soft === "number" ? soft : undefined;
}

/** Why so many connections cannot be; undefined where they can. */
export function tooManyConnections(connections: number, limit = fileLimit()): string | undefined {
  if (limit === undefined || connections + ownFiles <= limit) return undefined;
  return (
    `${connections} connections need ${connections + ownFiles} open files, and this process may have ${limit} (ulimit -n): ` +
    "raise it, or let nodes share connections (--nodes-per-connection)"
  );
}
