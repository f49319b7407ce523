/** Says whether one more request is allowed now. */
export type RateLimit = ReturnType<typeof createRateLimit>;

/** A token bucket: `burst` requests at once, refilled at `perSecond`. It starts full. */
export function createRateLimit(perSecond: number, burst: number) {
  let tokens = burst;
  let last: number | undefined;
  return {
    take(nowMs: number): boolean {
      tokens = Math.min(burst, tokens + ((nowMs - (last ?? nowMs)) / 1000) * perSecond);
      last = nowMs;
      if (tokens < 1) return false;
      tokens -= 1;
      return true;
    },
  };
}
