import type { Events } from "../contracts/events.js";
import type { ServerOptions } from "../contracts/server-options.js";
import { defaultEventLoopOptions } from "../event-loop/event-loop-stats.js";
import { EventLoopWatch } from "../event-loop/event-loop-watch.js";
import type { Counters } from "../publication/counters.js";

/** Undefined: it is not watched. */
export function watchEventLoop(
  options: ServerOptions["eventLoop"],
  counters: Counters,
  events: Events,
): EventLoopWatch | undefined {
  if (options === false) return undefined;
  return new EventLoopWatch(
    { ...defaultEventLoopOptions, ...options },
    () => counters.work(),
    (block) => events.emit("event-loop-blocked", () => ({ block })),
  );
}
