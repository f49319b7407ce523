const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

/** `3 min ago`. Times are milliseconds since 1970. */
export function ago(then: number, now: number): string {
  const passed = Math.max(0, now - then);
  return passed < second ? "now" : `${lasting(passed)} ago`;
}

/** `in 3 min`: of a time that lies ahead. */
export function until(then: number, now: number): string {
  return `in ${lasting(Math.max(0, then - now))}`;
}

/** `3 min`: the largest unit that fits. */
export function lasting(ms: number): string {
  if (ms < second) return `${Math.round(ms)} ms`;
  if (ms < minute) return `${Math.floor(ms / second)} s`;
  if (ms < hour) return `${Math.floor(ms / minute)} min`;
  if (ms < 2 * day) return `${Math.floor(ms / hour)} h`;
  return `${Math.floor(ms / day)} days`;
}

/** The exact time, as people here write it. */
export function exact(then: number): string {
  return new Date(then).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "medium" });
}
