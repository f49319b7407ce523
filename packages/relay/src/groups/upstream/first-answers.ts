/** Waits for the first answers to the requests of the start. */
export function createFirstAnswers() {
  const expected = new Set<object>();
  let over = false;
  let came = () => {};
  let allCame = () => {};
  const first = new Promise<void>((resolve) => {
    came = resolve;
  });
  const all = new Promise<void>((resolve) => {
    allCame = resolve;
  });
  return {
    /** Expects one more answer during the start; call the returned function when it came. */
    expect(): () => void {
      const one = {};
      if (!over) expected.add(one);
      return () => {
        if (!expected.delete(one)) return;
        came();
        if (expected.size === 0) allCame();
      };
    },
    /**
     * Resolves once all answers have come, or this many milliseconds after the first one: a server of the state of the
     * world need not say that there is nothing.
     */
    async settled(afterFirstMs: number): Promise<void> {
      if (expected.size > 0) {
        await first;
        const late = new Promise<void>((resolve) => void setTimeout(resolve, afterFirstMs).unref());
        await Promise.race([all, late]);
      }
      over = true;
      expected.clear();
    },
  };
}
