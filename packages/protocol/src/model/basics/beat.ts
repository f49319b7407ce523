/**
 * The shortest time between two heartbeats for one resource, in milliseconds. Eight a second are enough for any TTL
 * that makes sense on a network.
 */
const shortest = 125;
/** The longest. A TTL of days gains nothing from longer pauses, and timers cannot wait for ever. */
const longest = shortest * 2 ** 15;

/**
 * The time between two heartbeats of a resource with this TTL, both in milliseconds. It is at most a third of the TTL,
 * so that one heartbeat may be late or lost. The intervals are 125 ms × a power of two: a few serve all TTLs, and when
 * a long interval ends, all shorter ones end with it, so one timer and one response serve them together.
 */
export function beatInterval(ttl: number): number {
  let interval = shortest;
  while (interval < longest && interval * 2 <= ttl / 3) interval *= 2;
  return interval;
}

/**
 * The longest interval that has a multiple after `from` and not after `to`, both in milliseconds since the same moment;
 * 0 if there is none. All shorter intervals have ended by then too.
 */
export function intervalOver(from: number, to: number): number {
  let over = 0;
  for (let interval = shortest; interval <= longest; interval *= 2) {
    if (Math.floor(to / interval) === Math.floor(from / interval)) break;
    over = interval;
  }
  return over;
}
