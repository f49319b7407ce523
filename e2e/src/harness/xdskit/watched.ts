import type { Process } from "../basics/process.js";
import type { Scene } from "../basics/scene.js";
import { eventually } from "../basics/wait.js";
import { xdskitCommand } from "./xdskit.js";

/** A line of `xdskit watch --output jsonl`. */
export interface WatchedEvent {
  readonly event: string;
  readonly type?: string;
  readonly name?: string;
  readonly version?: string;
  readonly resource?: Readonly<Record<string, unknown>>;
  readonly message?: string;
  readonly code?: string;
  readonly nack?: boolean;
  readonly reason?: string;
}

/** A running `xdskit watch`. */
export interface Watched {
  readonly process: Process;
  readonly events: () => readonly WatchedEvent[];
  /** Waits for the next event that is so, after those that were waited for before; returns it. */
  next(what: string, is: (event: WatchedEvent) => boolean): Promise<WatchedEvent>;
}

/** Starts `xdskit watch` with what events are as JSON lines. */
export function startWatch(scene: Scene, ...args: readonly string[]): Watched {
  const { command, args: first } = xdskitCommand();
  const process = scene.start({
    name: "xdskit watch",
    command,
    args: [...first, "watch", "--output", "jsonl", "--validate", "full", ...args],
  });
  const events = () => process.stdout.map((line) => JSON.parse(line) as WatchedEvent);
  let from = 0;
  return {
    process,
    events,
    async next(what, is) {
      await eventually(what, () => events().slice(from).some(is));
      const index = events().findIndex((event, at) => at >= from && is(event));
      from = index + 1;
      return events()[index] as WatchedEvent;
    },
  };
}
