import type { Clock } from "@xdskit/api";

/** One moment on the server's clock and on the wall's. */
export interface Moment {
  /** Milliseconds of the server's clock. */
  readonly now: number;
  /** A time of the server's clock as a date. */
  date(at: number): Date;
}

/** Now. */
export function momentOf(clock: Clock): Moment {
  const now = clock.now();
  const wall = Date.now();
  return { now, date: (at) => new Date(wall - (now - at)) };
}
