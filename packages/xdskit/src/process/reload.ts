import { isatty } from "node:tty";

/**
 * Calls `reload` for each SIGHUP, as daemons do; returns what ends it. Not on a terminal: there the signal says that
 * the terminal is gone, and ends the process.
 */
export function listenForReload(reload: () => void, hasTerminal: boolean = isatty(0)): () => void {
  // Windows sends it when the console closes.
  if (hasTerminal || process.platform === "win32") return () => {};
  process.on("SIGHUP", reload);
  return () => void process.off("SIGHUP", reload);
}
