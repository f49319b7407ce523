import { XdskitError } from "@xdskit/api";
import { damaged } from "@xdskit/server/tables";
import { sqliteCode } from "./sqlite-connection.js";

/** What says nothing about the file: locks, the disk, permissions, memory. Any other error of SQLite is damage. */
const ofSystem =
  /^SQLITE_(?:BUSY|LOCKED|IOERR|FULL|CANTOPEN|READONLY|PERM|NOMEM|PROTOCOL|INTERRUPT|ABORT|AUTH|NOLFS|MISUSE)/;

/** Whether the system, not the file, is the reason. */
export function isOfSystem(error: unknown): boolean {
  const cause = error instanceof XdskitError ? error.cause : error;
  return ofSystem.test(sqliteCode(cause) ?? "");
}

/** The error of reading a store. */
export function unread(error: unknown, file: string): unknown {
  if (error instanceof XdskitError) return error;
  const { message } = error as Error;
  if (sqliteCode(error) !== undefined && !isOfSystem(error)) return damaged(message, { file }, error);
  return XdskitError.of("XDSKIT_STORE", `it cannot be read: ${message}`, { file }, { cause: error });
}

/** The error of a transaction, with the reason of the system, such as a full disk. */
export function unwritten(error: unknown, file: string): unknown {
  if (error instanceof XdskitError || !isOfSystem(error)) return unread(error, file);
  // A part of a page may still fit on the disk. The system's reason is not passed on then.
  const reason = (error as Error).message.replace(/^disk I\/O error$/, "$& (is the disk full?)");
  return XdskitError.of("XDSKIT_STORE", `the store cannot be written: ${reason}`, { file }, { cause: error });
}

/** What an error says, without its place. */
export function reasonOf(error: unknown): string {
  if (error instanceof XdskitError) return error.findings[0]?.message ?? "";
  const { code, message } = error as NodeJS.ErrnoException;
  // The message of a system call has its path, too.
  return code !== undefined && sqliteCode(error) === undefined ? code : message;
}
