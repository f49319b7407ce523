/** Waits for something that comes from a peer. */
export class Arrivals {
  #wake: () => void = () => {};

  /** Something came: whoever waits looks again. */
  arrived(): void {
    this.#wake();
  }

  /** What `look` gives, as soon as it does; undefined after the time. It may throw, if nothing can come any more. */
  async until<T>(look: () => T | undefined, withinMs: number): Promise<T | undefined> {
    const end = Date.now() + withinMs;
    for (;;) {
      const found = look();
      if (found !== undefined) return found;
      const left = end - Date.now();
      if (left <= 0) return undefined;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, left);
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  }
}
