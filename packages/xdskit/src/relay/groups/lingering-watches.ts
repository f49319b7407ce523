/** Watches that are not needed any more. */
export interface LingeringWatches {
  /** Ends one, at once or when the origin is back. */
  end(cancel: () => void): void;
  /** The origin is back. */
  flush(): void;
  /** All end with the client. */
  close(): void;
}

/** While the origin is away, its resources are kept: a client that comes back could not get them again. */
export function createLingeringWatches(isConnected: () => boolean): LingeringWatches {
  const waiting = new Set<() => void>();
  let closed = false;
  return {
    end(cancel) {
      if (closed) return;
      if (isConnected()) cancel();
      else waiting.add(cancel);
    },
    flush() {
      const ended = [...waiting];
      waiting.clear();
      for (const cancel of ended) cancel();
    },
    close() {
      closed = true;
      waiting.clear();
    },
  };
}
