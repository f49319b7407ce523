import type { Log } from "./log.js";

/** So many lines of one kind may come at once: more than a fleet of some size has clients. */
const burst = 2_000;
/** And so many a second. */
const perSecond = 200;
/** How long lines are left out before it is said how many, in milliseconds. */
const sayMs = 1_000;

interface Kind {
  left: number;
  since: number;
  leftOut: number;
}

/**
 * A log for what peers bring about: of each kind (a level and a message, which is a constant text) 2,000 lines at once and 200 a second. A second later one line
 * says how many were left out. `debug` is not limited: who asks for it wants to see each.
 */
export function limitLines(log: Log, now: () => number = () => performance.now()): Log {
  const kinds = new Map<string, Kind>();

  function hasRoom(key: string): Kind | undefined {
    const time = now();
    let kind = kinds.get(key);
    if (kind === undefined) {
      kind = { left: burst, since: time, leftOut: 0 };
      kinds.set(key, kind);
    }
    kind.left = Math.min(burst, kind.left + ((time - kind.since) / 1_000) * perSecond);
    kind.since = time;
    if (kind.left < 1) return undefined;
    kind.left -= 1;
    return kind;
  }

  const at = (level: "info" | "warn" | "error") => (fields: Readonly<Record<string, unknown>>, message: string) => {
    const key = `${level} ${message}`;
    if (hasRoom(key) !== undefined) return log[level](fields, message);
    const kind = kinds.get(key) as Kind;
    kind.leftOut += 1;
    if (kind.leftOut > 1) return;
    setTimeout(() => {
      log.warn(
        { leftOut: kind.leftOut, line: message },
        "lines of the log were left out: there were too many of a kind",
      );
      kind.leftOut = 0;
    }, sayMs).unref();
  };
  return { debug: log.debug, info: at("info"), warn: at("warn"), error: at("error") };
}
