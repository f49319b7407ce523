import { setTimeout as delay } from "node:timers/promises";
import { firstWithin, XdskitError } from "@xdskit/api";
import { reportFailure } from "../output/failure.js";
import { printable } from "../output/printable.js";
import type { Terminal } from "../output/terminal.js";
import { exitStatus } from "../process/exit-status.js";
import { listenForStop } from "../process/signals.js";
import { type ClientSession, openSession } from "./client-session.js";
import { readClientSettings } from "./client-settings.js";
import { followNames } from "./stdin-names.js";
import type { WatchOptions } from "./watch-options.js";

/** A stop takes at most 5 s: the streams and the pending output get this, everything else the rest. */
export const stopMs = 3_000;

/**
 * Shows the resources of a server until a signal comes, the time is over, or the reader is gone; resolves to the exit
 * status.
 */
export async function runWatch(options: WatchOptions, terminal: Terminal): Promise<number> {
  const signals = listenForStop(terminal.stop);
  let session: ClientSession | undefined;
  let stopNames = () => {};
  try {
    const settings = await readClientSettings(options);
    const opened = openSession(settings, options, terminal);
    session = opened;
    for (const { type, names } of settings.wanted) for (const name of names) opened.subscribe(type, name);
    const [{ type }] = settings.wanted;
    if (options.stdin) stopNames = namesFrom(process.stdin, opened, type, terminal);
    await firstWithin<unknown>(options.timeoutMs, [signals.stop, terminal.closed]);
    signals.over();
    return exitStatus.ok;
  } catch (error) {
    if (!(error instanceof XdskitError)) throw error;
    reportFailure(terminal, "watch", error);
    return exitStatus.usage;
  } finally {
    stopNames();
    await closed(session, terminal, signals.stop, stopMs);
    signals.release();
  }
}

/**
 * Ends the streams cleanly, and lets the pending output reach standard output, for this many milliseconds after the
 * command was asked to stop, or from now on if it was not.
 */
export async function closed(
  session: ClientSession | undefined,
  terminal: Terminal,
  stop: Promise<unknown>,
  ms: number | undefined,
): Promise<void> {
  const done = Promise.allSettled([session?.close()]).then(() => terminal.flushed?.());
  const waited = new AbortController();
  const { signal } = waited;
  const patience = () => delay(stopMs, undefined, { signal }).catch(() => {});
  await Promise.race([done, ms === undefined ? stop.then(patience) : delay(ms, undefined, { signal }).catch(() => {})]);
  waited.abort();
}

function namesFrom(
  input: NodeJS.ReadStream,
  session: ClientSession,
  type: Parameters<ClientSession["subscribe"]>[0],
  terminal: Terminal,
): () => void {
  const say = (text: string) => terminal.err(`xdskit watch: ${printable(text)}\n`);
  const attempt = (change: () => void) => {
    try {
      change();
    } catch (error) {
      if (!(error instanceof XdskitError)) throw error;
      reportFailure(terminal, "watch", error);
    }
  };
  return followNames(input, {
    subscribe: (name) =>
      attempt(() => {
        if (!session.subscribe(type, name)) say(`${type.name} ${JSON.stringify(name)} is asked for already`);
      }),
    unsubscribe: (name) => {
      if (!session.unsubscribe(type, name)) say(`${type.name} ${JSON.stringify(name)} was not asked for`);
    },
    unknown: (line) => say(`expected +NAME or -NAME on standard input: ${JSON.stringify(line.slice(0, 100))}`),
  });
}
