import { readFileSync } from "node:fs";

/** Standard streams, and the files that Node.js itself has open. */
const ownFiles = 40;

/** How many files this process may have open, as in `ulimit -n`; undefined without a limit, or where it is unknown. */
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

/** Why this many connections are impossible; undefined where they are possible. */
export function tooManyConnections(connections: number, limit = fileLimit()): string | undefined {
  if (limit === undefined || connections + ownFiles <= limit) return undefined;
  return (
    `${connections} connections need ${connections + ownFiles} open files, and this process may have ${limit} (ulimit -n): ` +
    "raise it, or let nodes share connections (--nodes-per-connection)"
  );
}
