import { setTimeout as delay } from "node:timers/promises";
import { XdskitError } from "@xdskit/api";
import type { XdsServer } from "@xdskit/server";
import type { AdminServer } from "../admin/admin-server.js";
import type { Readiness } from "../admin/admin-state.js";
import { reportFailure } from "../output/failure.js";
import { createLog, type Log } from "../output/log.js";
import type { Terminal } from "../output/terminal.js";
import { exitStatus } from "../process/exit-status.js";
import { listenForStop } from "../process/signals.js";
import type { ServingOptions } from "./serving-options.js";

/** The running parts of a command that serves. */
export interface Running {
  readiness: Readiness;
  /** Undefined until it is ready. */
  servesSince: Date | undefined;
  server: XdsServer | undefined;
  admin: AdminServer | undefined;
  /** Whether the line of the admin listener was printed. */
  adminAnnounced: boolean;
  /** Closed after the server's streams have ended. */
  readonly closers: (() => Promise<void>)[];
}

/** The contract allows 5 s for a stop: streams and transports get this, everything else the rest. */
const servingStopMs = 4_000;

/**
 * Runs a command that serves until a signal comes; resolves to the exit status. `start` resolves once it serves, and
 * rejects with the reason if it cannot.
 */
export async function runServing(
  command: string,
  options: ServingOptions,
  terminal: Terminal,
  start: (running: Running, log: Log) => Promise<void>,
): Promise<number> {
  const signals = listenForStop();
  const log = createLog(terminal, { level: options.logLevel, format: options.logFormat });
  const running: Running = {
    readiness: "starting",
    servesSince: undefined,
    server: undefined,
    admin: undefined,
    adminAnnounced: false,
    closers: [],
  };
  try {
    const outcome = await Promise.race([
      start(running, log).then(() => "ready" as const),
      signals.stop.then(() => "stopped" as const),
    ]);
    if (outcome === "ready") terminal.out("ready\n");
    const signal = await signals.stop;
    log.info({ signal }, "stopping: streams are ended");
    await stop(running);
    return exitStatus.ok;
  } catch (error) {
    reportFailure(terminal, command, error);
    await stop(running);
    return isAddressError(error) ? exitStatus.failed : exitStatus.usage;
  } finally {
    signals.release();
  }
}

/** The admin pages stay until the streams have ended; `/readyz` answers 503 meanwhile. */
async function stop(running: Running): Promise<void> {
  running.readiness = "stopping";
  const closing = Promise.allSettled([running.server?.close({ timeoutMs: servingStopMs })])
    .then(() => Promise.allSettled(running.closers.map((close) => close())))
    .then(() => running.admin?.close());
  await Promise.race([closing, delay(servingStopMs + 500, undefined, { ref: false })]);
}

/** Whether an address cannot be listened on. */
export function isAddressError(error: unknown): error is XdskitError {
  return (
    error instanceof XdskitError &&
    (error.code === "XDSKIT_ADDRESS_IN_USE" || error.code === "XDSKIT_ADDRESS_UNAVAILABLE")
  );
}
