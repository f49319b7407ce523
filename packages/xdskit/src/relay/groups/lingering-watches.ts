/**
 * While the origin is away, its resources are kept: a client that comes back could not get them again. Clients come and
 * go often, so one watch is kept for each name, and none of a name without a resource.
 */
export function createLingeringWatches(isConnected: () => boolean) {
  /** By type and name. */
  const waiting = new Map<string, () => void>();
  let closed = false;
  return {
    /** Ends the watch of a name, at once or when the origin is back. */
    end(name: string, hasResource: boolean, cancel: () => void) {
      if (closed) return;
      if (isConnected() || !hasResource || waiting.has(name)) cancel();
      else waiting.set(name, cancel);
    },
    /** The origin is back. */
    flush() {
      const ended = [...waiting.values()];
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
