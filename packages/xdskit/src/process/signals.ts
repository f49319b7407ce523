const signals = ["SIGTERM", "SIGINT"] as const;
/** The status that shells report for a program that a signal ended. */
const statusOf = { SIGTERM: 143, SIGINT: 130 } as const;

/**
 * The same signal again within this many milliseconds does not count: GNU timeout sends it to the process, and then to
 * its process group.
 */
const twiceMs = 100;

/** Of the command that listened last. */
let mustEnd = false;

/** Whether a signal asked the command to end, or its time is over. */
export function isStopping(): boolean {
  return mustEnd;
}

/**
 * Listens for the signals that end the command. A second one ends the process at once. `asked` resolves when it must
 * end as if a signal came.
 */
export function listenForStop(asked?: Promise<NodeJS.Signals>) {
  let first: { readonly signal: NodeJS.Signals | undefined; readonly at: number } | undefined;
  let resolveStop: (signal: NodeJS.Signals) => void = () => {};
  mustEnd = false;
  const stop = new Promise<NodeJS.Signals>((resolve) => {
    resolveStop = (signal) => {
      mustEnd = true;
      resolve(signal);
    };
  });
  const received = (signal: (typeof signals)[number]) => {
    const now = performance.now();
    if (first === undefined) {
      first = { signal, at: now };
      resolveStop(signal);
    } else if (signal !== first.signal || now - first.at > twiceMs) process.exit(statusOf[signal]);
  };
  void asked?.then((signal) => resolveStop(signal));
  const listeners = signals.map((signal) => {
    const listener = () => received(signal);
    process.on(signal, listener);
    return { signal, listener };
  });
  const forgetParent = watchNpm(() => {
    first ??= { signal: undefined, at: 0 };
    resolveStop("SIGTERM");
  });
  return {
    /** Resolves with the first signal. */
    stop,
    /** The command's time is over: it waits for a slow reader no longer than after a signal. */
    over(): void {
      mustEnd = true;
    },
    /** Stops listening for signals. */
    release: () => {
      forgetParent();
      for (const { signal, listener } of listeners) process.off(signal, listener);
    },
  };
}

/** How often to check whether npm's shell is still there, in milliseconds. */
const npmWatchMs = 250;

/**
 * `npx xdskit` and `npm start` run the command in a shell. A SIGTERM to npm ends that shell and does not reach this
 * process, which would go on and keep its ports. So under npm the end of the parent counts as the signal.
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
