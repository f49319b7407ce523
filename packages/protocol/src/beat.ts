/** The shortest time between two heartbeats for one resource, in milliseconds: eight a second keep a TTL alive that no network should be given. */
const shortest = 125;
/** The longest. A TTL of days gains nothing from longer pauses, and timers cannot wait for ever. */
const longest = shortest * 2 ** 15;

/**
 * How often a resource with this TTL needs a heartbeat: at most a third of the TTL, so that one heartbeat may be lost or come late. Both in
 * milliseconds. The intervals are 125 ms × a power of two: few of them serve all TTLs, and whenever a long one is over, all
 * shorter ones are over too, so that one timer and one response serve them together.
 */
export function beatInterval(ttl: number): number {
  let interval = shortest;
  while (interval < longest && interval * 2 <= ttl / 3) interval *= 2;
  return interval;
}

/**
 * The longest interval of which a multiple lies after `from` and not after `to`, both milliseconds since the same moment; 0 when there is none. All
 * shorter ones are over by then too.
 */
export function intervalOver(from: number, to: number): number {
  let over = 0;
  for (let interval = shortest; interval <= longest; interval *= 2) {
    if (Math.floor(to / interval) === Math.floor(from / interval)) break;
    over = interval;
  }
  return over;
}
