import { deferred } from "@xdskit/api";

/** Waits for the first answers to the requests of the start. */
export function createFirstAnswers() {
  const expected = new Set<object>();
  let over = false;
  const first = deferred();
  const all = deferred();
  return {
    /** Expects one more answer during the start; call the returned function when it came. */
    expect(): () => void {
      const one = {};
      if (!over) expected.add(one);
      return () => {
        if (!expected.delete(one)) return;
        first.resolve();
        if (expected.size === 0) all.resolve();
      };
    },
    /**
     * Resolves once all answers have come, or this many milliseconds after the first one: a server of the state of the
     * world need not say that there is nothing.
     */
    async settled(afterFirstMs: number): Promise<void> {
      if (expected.size > 0) {
        await first.promise;
        const late = new Promise<void>((resolve) => void setTimeout(resolve, afterFirstMs).unref());
        await Promise.race([all.promise, late]);
      }
      over = true;
      expected.clear();
    },
  };
}
