/** What a wait is counted in. */
const stepMs = 50;

/**
 * Waits for something that comes from a peer. The time is counted in steps: on a machine that is too busy to begin each
 * step in time, it is as much longer, and what is under way can arrive.
 */
export class PeerArrivals {
  #wake: () => void = () => {};

  /** Something came: whoever waits looks again. */
  arrived(): void {
    this.#wake();
  }

  /** What `look` gives, as soon as it does; undefined after the time. It may throw, if nothing can come any more. */
  async until<T>(look: () => T | undefined, withinMs: number): Promise<T | undefined> {
    for (let leftMs = withinMs; ; ) {
      const found = look();
      if (found !== undefined) return found;
      if (leftMs <= 0) return undefined;
      const begun = Date.now();
      const step = Math.min(leftMs, stepMs);
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, step);
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
      leftMs -= Math.min(step, Date.now() - begun);
    }
  }
}
