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

/** Listens for the signals that end the command. A second one ends the process at once. */
export function listenForStop(): StopSignals {
  let stopping = false;
  let resolveStop: (signal: NodeJS.Signals) => void = () => {};
  const stop = new Promise<NodeJS.Signals>((resolve) => {
    resolveStop = resolve;
  });
  const listeners = signals.map((signal) => {
    const listener = () => {
      if (stopping) process.exit(statusOf[signal]);
      stopping = true;
      resolveStop(signal);
    };
    process.on(signal, listener);
    return { signal, listener };
  });
  return {
    stop,
    release: () => {
      for (const { signal, listener } of listeners) process.off(signal, listener);
    },
  };
}
