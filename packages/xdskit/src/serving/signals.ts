/** SIGTERM and SIGINT, as an orderly end: the first one asks for it, the second one does not wait. */
export interface StopSignals {
  /** Resolves with the first signal. */
  readonly stop: Promise<NodeJS.Signals>;
  /** Gives the signals back. */
  release(): void;
}

const signals = ["SIGTERM", "SIGINT"] as const;
/** What shells report for a program that a signal ended. */
const statusOf = { SIGTERM: 143, SIGINT: 130 } as const;

/** The same signal within so many milliseconds is no second one: GNU timeout sends it to the process, and then to the group that the process is in. */
const twiceMs = 100;

/** Listens for the signals that end the command. A second one ends the process at once. */
export function listenForStop(): StopSignals {
  let first: { readonly signal: NodeJS.Signals | undefined; readonly at: number } | undefined;
  let resolveStop: (signal: NodeJS.Signals) => void = () => {};
  const stop = new Promise<NodeJS.Signals>((resolve) => {
    resolveStop = resolve;
  });
  const heard = (signal: (typeof signals)[number]) => {
    const now = performance.now();
    if (first === undefined) {
      first = { signal, at: now };
      resolveStop(signal);
    } else if (signal !== first.signal || now - first.at > twiceMs) process.exit(statusOf[signal]);
  };
  const listeners = signals.map((signal) => {
    const listener = () => heard(signal);
    process.on(signal, listener);
    return { signal, listener };
  });
  const forgetParent = watchNpm(() => {
    first ??= { signal: undefined, at: 0 };
    resolveStop("SIGTERM");
  });
  return {
    stop,
    release: () => {
      forgetParent();
      for (const { signal, listener } of listeners) process.off(signal, listener);
    },
  };
}

/** How often it is looked whether npm's shell is still there, in milliseconds. */
const npmWatchMs = 250;

/**
 * `npx xdskit` and `npm start` run the command in a shell. A SIGTERM for npm ends that shell and does not get here: the server would
 * go on and hold its ports, with nobody knowing. So under npm the end of the parent counts as the signal.
 */
function watchNpm(ended: () => void): () => void {
  if (process.env.npm_lifecycle_event === undefined) return () => {};
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    ended();
  }, npmWatchMs).unref();
  return () => clearInterval(timer);
}
