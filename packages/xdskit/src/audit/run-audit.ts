import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";
import { type AuditEntry, type AuditQuery, auditActionFault, auditEntryOf, isAskedFor } from "@xdskit/admin/access";
import { printable, XdskitError } from "@xdskit/api";
import { errnoText } from "@xdskit/api/disk";
import { reportFailure } from "../output/failure.js";
import { tell } from "../output/screen/told.js";
import type { Terminal } from "../output/terminal.js";
import { exitStatus } from "../process/exit-status.js";

export interface AuditFilter extends AuditQuery {
  readonly file: string;
  /** Milliseconds before now. */
  readonly since?: number;
  readonly output: "text" | "json";
}

/** Prints the lines of an audit that pass. Resolves to the exit status. */
export async function runAudit(filter: AuditFilter, terminal: Terminal): Promise<number> {
  const { file, action, since, output } = filter;
  const fault = action === undefined ? undefined : auditActionFault(action);
  if (fault !== undefined) {
    reportFailure(terminal, "audit", fault);
    return exitStatus.usage;
  }
  const from = since === undefined ? "" : new Date(Date.now() - since).toISOString();
  let broken = 0;
  try {
    for await (const line of createInterface({ input: createReadStream(file), crlfDelay: Number.POSITIVE_INFINITY })) {
      const entry = auditEntryOf(line);
      if (entry === undefined) broken += 1;
      else if (entry.time >= from && isAskedFor(entry, filter)) {
        if (output === "json") terminal.out(`${line}\n`);
        else tell(terminal, textOf(entry));
      }
    }
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const reason = code === undefined ? message : errnoText(code);
    reportFailure(terminal, "audit", XdskitError.of("XDSKIT_FILE_UNREADABLE", reason, { file }));
    return exitStatus.failed;
  }
  if (broken > 0) tell(terminal, `${broken} lines of ${file} are no lines of an audit\n`, "err");
  return exitStatus.ok;
}

function textOf({ time, who, from, action, target, result, lost }: AuditEntry): string {
  const before = lost === undefined ? "" : `${lost} lines are missing here\n`;
  return `${before}${printable(`${time}  ${result.padEnd(7)}  ${who ?? "(nobody known)"} from ${from}  ${action}  ${target}`)}\n`;
}
