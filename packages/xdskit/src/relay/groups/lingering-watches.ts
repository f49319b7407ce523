/** While the origin is away, its resources are kept: a client that comes back could not get them again. */
export function createLingeringWatches(isConnected: () => boolean) {
  const waiting = new Set<() => void>();
  let closed = false;
  return {
    /** Ends a watch, at once or when the origin is back. */
    end(cancel: () => void) {
      if (closed) return;
      if (isConnected()) cancel();
      else waiting.add(cancel);
    },
    /** The origin is back. */
    flush() {
      const ended = [...waiting];
      waiting.clear();
      for (const cancel of ended) cancel();
    },
    /** All end with the client. */
    close() {
      closed = true;
      waiting.clear();
    },
  };
}
