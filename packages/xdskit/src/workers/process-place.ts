/** One of several processes that serve behind one port. */
export interface ProcessPlace {
  /** From 1. The first one says what all of them would say alike. */
  readonly slot: number;
  readonly count: number;
  /** Another process was here before, and ended. */
  readonly isAgain: boolean;
  /** A folder of these processes alone, for sockets and for what must not outlive them. */
  readonly directory: string;
}

/** How a process hears of its place. */
const variable = "XDSKIT_PLACE";

/** The environment of the process at a place. */
export function environmentOf({ slot, count, isAgain, directory }: ProcessPlace): Record<string, string> {
  return { [variable]: `${slot}/${count}/${isAgain ? "again" : "first"}/${directory}` };
}

/** The place of this process; undefined: it serves alone. */
export function processPlace(
  env: Readonly<Record<string, string | undefined>> = process.env,
): ProcessPlace | undefined {
  const [, slot, count, time, directory] = /^(\d+)\/(\d+)\/(first|again)\/(.+)$/s.exec(env[variable] ?? "") ?? [];
  if (directory === undefined) return undefined;
  return { slot: Number(slot), count: Number(count), isAgain: time === "again", directory };
}
