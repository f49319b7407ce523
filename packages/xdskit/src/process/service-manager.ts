import { spawn } from "node:child_process";

/** Who started the process and waits to hear how it is; does nothing where nobody does. */
export interface ServiceManager {
  /** The process serves. */
  ready(): void;
  /** It was asked to end. */
  stopping(): void;
}

/** What the log says then. */
export const unnotified = "systemd cannot be told how the server is: it will end it, unless the unit has another Type";

/** systemd's own program for its words. */
const program = "systemd-notify";

/**
 * systemd, where a unit of `Type=notify` started the process. Node has no datagram sockets of Unix, so a program of
 * systemd says it, and the unit needs `NotifyAccess=all`. `failed` hears once that nothing can be said.
 */
export function serviceManager(failed: (reason: string) => void, env: NodeJS.ProcessEnv = process.env): ServiceManager {
  const { NOTIFY_SOCKET: socket, WATCHDOG_USEC: watchdogUs, WATCHDOG_PID: watched, ...others } = env;
  if (socket === undefined) return { ready() {}, stopping() {} };
  // What this process starts is not the service.
  for (const name of ["NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"]) delete env[name];
  let hasFailed = false;
  const fail = (reason: string) => {
    if (!hasFailed) failed(reason);
    hasFailed = true;
  };
  const say = (...words: readonly string[]) => {
    const child = spawn(program, words, { env: { ...others, NOTIFY_SOCKET: socket }, stdio: "ignore" });
    child.on("error", ({ message }) => fail(message));
    child.on("exit", (status) => status !== 0 && status !== null && fail(`${program} ends with status ${status}`));
    child.unref();
  };
  // Half of the time, as systemd advises. An event loop that does not turn says nothing.
  const isWatched = watchdogUs !== undefined && (watched === undefined || Number(watched) === process.pid);
  const everyMs = isWatched ? Number(watchdogUs) / 2_000 : 0;
  let timer: NodeJS.Timeout | undefined;
  return {
    ready() {
      say("READY=1", "STATUS=serves");
      if (everyMs > 0) timer = setInterval(() => say("WATCHDOG=1"), everyMs).unref();
    },
    stopping() {
      clearInterval(timer);
      say("STOPPING=1", "STATUS=ends its streams");
    },
  };
}
