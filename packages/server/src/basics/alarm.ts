import type { Clock } from "@xdskit/api";

/** One timer for a time that changes often. */
export type Alarm = ReturnType<typeof createAlarm>;

export function createAlarm(clock: Clock, ring: () => void) {
  let set: number | undefined;
  let stop: (() => void) | undefined;
  return {
    /**
     * Sets the alarm to this time of the clock instead of the one before; undefined: never. Setting the same time costs
     * nothing.
     */
    set(at: number | undefined) {
      if (at === set) return;
      stop?.();
      set = at;
      stop = undefined;
      if (at === undefined) return;
      stop = clock.after(Math.max(0, at - clock.now()), () => {
        set = undefined;
        ring();
      });
    },
  };
}
