/** Watches that nobody needs any more. */
export interface LingeringWatches {
  /** Ends one, at once or when the origin is there again. */
  end(cancel: () => void): void;
  /** The origin is there. */
  flush(): void;
  /** All end with the client. */
  close(): void;
}

/** While the origin is away what is held of it is not let go of: who comes back for it could not get it anew. */
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
