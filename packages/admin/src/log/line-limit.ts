import type { Log, LogLine } from "./log.js";

/** How many lines of one kind may come at once: more than a large fleet has clients. */
const burst = 2_000;
/** How many lines of one kind may come each second after that. */
const perSecond = 200;
/** How long lines are dropped before the log says how many, in milliseconds. */
const sayMs = 1_000;

interface LineKind {
  left: number;
  since: number;
  leftOut: number;
}

/**
 * A log for events that peers cause: of each kind (a level and a constant message) 2,000 lines at once and 200 a
 * second. A second later one line says how many were dropped. `debug` is not limited: it exists to show every line.
 */
export function limitLines(log: Log, now: () => number = () => performance.now()): Log {
  const kinds = new Map<string, LineKind>();

  function kindOf(key: string): LineKind {
    const time = now();
    const kind = kinds.get(key) ?? { left: burst, since: time, leftOut: 0 };
    kinds.set(key, kind);
    kind.left = Math.min(burst, kind.left + ((time - kind.since) / 1_000) * perSecond);
    kind.since = time;
    return kind;
  }

  const at =
    (level: "info" | "warn" | "error"): LogLine =>
    (event, fields, message) => {
      const kind = kindOf(`${level} ${message}`);
      if (kind.left >= 1) {
        kind.left -= 1;
        return log[level](event, fields, message);
      }
      kind.leftOut += 1;
      if (kind.leftOut > 1) return;
      setTimeout(() => {
        log.warn(
          "lines-left-out",
          { leftOut: kind.leftOut, line: message },
          "lines of the log were left out: there were too many of a kind",
        );
        kind.leftOut = 0;
      }, sayMs).unref();
    };
  return { debug: log.debug, info: at("info"), warn: at("warn"), error: at("error") };
}
