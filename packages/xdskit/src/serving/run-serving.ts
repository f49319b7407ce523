import { setTimeout as delay } from "node:timers/promises";
import { XdskitError } from "@xdskit/api";
import type { XdsServer } from "@xdskit/server";
import type { AdminServer } from "../admin/admin-server.js";
import type { Readiness } from "../admin/admin-state.js";
import { exitStatus } from "../exit-status.js";
import { reportFailure } from "../output/failure.js";
import { createLog, type Log } from "../output/log.js";
import type { Terminal } from "../output/terminal.js";
import type { ServingOptions } from "./serving-options.js";
import { listenForStop } from "./signals.js";

/** What a command that serves has running. */
export interface Running {
  readiness: Readiness;
  /** Undefined until it is ready. */
  servesSince: Date | undefined;
  server: XdsServer | undefined;
  admin: AdminServer | undefined;
  /** Whether standard output has the line of the admin listener. */
  adminAnnounced: boolean;
  /** What else is to be closed, once the server's streams have ended. */
  readonly closers: (() => Promise<void>)[];
}

/** What the contract gives a stop at most is 5 s: streams and transports get this, the rest is for what stands around them. */
const stopMs = 4_000;

/**
 * Runs a command that serves until a signal comes; resolves to the exit status. `start` resolves once it serves, and rejects with what keeps it from that.
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

/** The admin pages last until the streams have ended: `/readyz` says 503 meanwhile. */
async function stop(running: Running): Promise<void> {
  running.readiness = "stopping";
  const closing = Promise.allSettled([running.server?.close({ timeoutMs: stopMs })])
    .then(() => Promise.allSettled(running.closers.map((close) => close())))
    .then(() => running.admin?.close());
  await Promise.race([closing, delay(stopMs + 500, undefined, { ref: false })]);
}

/** An address that cannot be listened on. */
export function isAddressError(error: unknown): error is XdskitError {
  return (
    error instanceof XdskitError &&
    (error.code === "XDSKIT_ADDRESS_IN_USE" || error.code === "XDSKIT_ADDRESS_UNAVAILABLE")
  );
}
