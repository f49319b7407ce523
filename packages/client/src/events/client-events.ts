import type { ClientEvent, ClientListener } from "./client-event.js";

/** The listeners of a client. */
export function createClientEvents() {
  const listeners = new Set<ClientListener>();
  return {
    on(listener: ClientListener): () => void {
      // Wrapped, so that the same function may listen twice.
      const entry: ClientListener = (event) => listener(event);
      listeners.add(entry);
      return () => void listeners.delete(entry);
    },
    /** Tells all listeners; the event is made only if there is one. */
    emit(event: () => ClientEvent) {
      if (listeners.size === 0) return;
      const emitted = event();
      for (const listener of listeners) call(listener, emitted);
    },
  };
}

/** A fault in a listener must not end the client or the process: it becomes a warning. */
function call(listener: (event: ClientEvent) => unknown, event: ClientEvent): void {
  const warn = (error: unknown) => {
    process.emitWarning(`a listener of the client, at "${event.kind}", threw: ${String(error)}`, "XdskitWarning");
  };
  try {
    const result = listener(event);
    if (result instanceof Promise) result.catch(warn);
  } catch (error) {
    warn(error);
  }
}
