import type { Clock } from "@xdskit/api";
import { intervalOver, type Snapshot, shortestBeat } from "@xdskit/protocol";

/** A stream whose client is told TTLs. */
export interface PulseListener {
  /** Heartbeats are due for resources that need one at least every this many milliseconds. */
  beat(interval: number): void;
}

/**
 * Says when heartbeats are due, for all streams with the same list of layers: one timer for all streams and resources,
 * and none while no resource has a TTL or no client is told TTLs. A heartbeat restarts a TTL on the client before it
 * ends; the protocol's machine makes it (`heartbeats.ts`).
 */
export interface Pulse {
  /** Tells a stream when heartbeats are due. Returns a function that ends that. */
  join(listener: PulseListener): () => void;
  /** The snapshots may have become others, and with them the shortest TTL. */
  update(): void;
}

const never = Number.POSITIVE_INFINITY;

/** `snapshots`: the targets of the streams. Mostly one; none while nothing is known. */
export function createPulse(clock: Clock, snapshots: () => Iterable<Snapshot>): Pulse {
  const listeners = new Set<PulseListener>();
  let running: { readonly interval: number; readonly stop: () => void } | undefined;
  /** Intervals are counted from here, so that the timer may be started anew without a beat being lost or put off. */
  const start = clock.now();
  /** Milliseconds since `start`: beats due by then were delivered. */
  let last = 0;

  function update(): void {
    const interval = listeners.size === 0 ? never : shortest();
    if (interval === (running?.interval ?? never)) return;
    if (running === undefined) last = clock.now() - start;
    running?.stop();
    running = undefined;
    if (interval !== never) wait(interval);
  }
  const shortest = () => Math.min(never, ...Array.from(snapshots(), (each) => shortestBeat(each) ?? never));
  function wait(interval: number): void {
    const passed = clock.now() - start;
    // Counted from `last` on, so that changes that come often do not put the next beat off.
    const next = (Math.floor(last / interval) + 1) * interval;
    running = { interval, stop: clock.after(Math.max(1, next - passed), tick) };
  }
  function tick(): void {
    if (running === undefined) return;
    const passed = clock.now() - start;
    const over = intervalOver(last, passed);
    // A timer may come a little early.
    if (over >= running.interval) {
      last = passed;
      for (const listener of listeners) listener.beat(over);
    }
    wait(running.interval);
  }

  return {
    join(listener: PulseListener) {
      listeners.add(listener);
      update();
      return () => {
        if (listeners.delete(listener) && listeners.size === 0) update();
      };
    },
    update,
  };
}
