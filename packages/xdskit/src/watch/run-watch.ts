import { firstWithin, printable, XdskitError } from "@xdskit/api";
import { type ClientSession, openSession } from "../asking/client-session.js";
import { readClientSettings } from "../asking/client-settings.js";
import { closed, stopMs } from "../asking/close-session.js";
import type { WatchOptions } from "../asking/watch-options.js";
import { inputFailure, reportFailure } from "../output/failure.js";
import { tell } from "../output/screen/told.js";
import type { Terminal } from "../output/terminal.js";
import { exitStatus } from "../process/exit-status.js";
import { listenForStop } from "../process/signals.js";
import { followNames } from "./stdin-names.js";

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
    return inputFailure(terminal, "watch", error);
  } finally {
    stopNames();
    await closed(session, terminal, signals.stop, stopMs);
    signals.release();
  }
}

function namesFrom(
  input: NodeJS.ReadStream,
  session: ClientSession,
  type: Parameters<ClientSession["subscribe"]>[0],
  terminal: Terminal,
): () => void {
  const say = (text: string) => tell(terminal, `xdskit watch: ${printable(text)}\n`, "err");
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
