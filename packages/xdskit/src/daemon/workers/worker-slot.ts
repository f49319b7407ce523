/** One of several processes that serve behind one port. */
export interface WorkerSlot {
  /** From 1. The first one says what all of them would say alike. */
  readonly slot: number;
  readonly count: number;
  /** Another process was here before, and ended. */
  readonly isAgain: boolean;
  /** A folder of these processes alone, for sockets and for what must not outlive them. */
  readonly directory: string;
}

/** How a process hears of its slot. */
const variable = "XDSKIT_WORKER";

/** The environment of the process in a slot. */
export function environmentOf({ slot, count, isAgain, directory }: WorkerSlot): Record<string, string> {
  return { [variable]: `${slot}/${count}/${isAgain ? "again" : "first"}/${directory}` };
}

/** The slot of this process; undefined: it serves alone. */
export function workerSlot(env: Readonly<Record<string, string | undefined>> = process.env): WorkerSlot | undefined {
  const [, slot, count, time, directory] = /^(\d+)\/(\d+)\/(first|again)\/(.+)$/s.exec(env[variable] ?? "") ?? [];
  if (directory === undefined) return undefined;
  return { slot: Number(slot), count: Number(count), isAgain: time === "again", directory };
}
