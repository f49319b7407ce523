/** What the server tells as it happens. */
export type LiveEvent = "revision" | "node" | "rollout" | "problem" | "reset";

const kinds: readonly LiveEvent[] = ["revision", "node", "rollout", "problem", "reset"];

/** Whether events come: they are the sign that the server is there. */
export type Connection = "connecting" | "open" | "lost";

/** A browser ends a stream for good after an answer such as 503: it is opened anew after this long, in milliseconds. */
const reopenMs = 3_000;

const listeners = new Set<(kind: LiveEvent) => void>();
const watchers = new Set<(connection: Connection) => void>();
let connection: Connection = "connecting";

/** Follows the events of the server for as long as the page is open. */
export function startEvents(): void {
  const source = new EventSource("api/v1/events");
  source.onopen = () => say("open");
  source.onerror = () => {
    say("lost");
    // Otherwise the browser connects again by itself.
    if (source.readyState === EventSource.CLOSED) setTimeout(startEvents, reopenMs);
  };
  for (const kind of kinds) source.addEventListener(kind, () => tell(kind));
}

/** Calls a function at each event; returns a function that ends it. */
export function onEvent(listener: (kind: LiveEvent) => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

/** Calls a function now, and whenever the connection changes. */
export function onConnection(watcher: (connection: Connection) => void): () => void {
  watchers.add(watcher);
  watcher(connection);
  return () => void watchers.delete(watcher);
}

function say(now: Connection): void {
  if (connection === "lost" && now === "open") tell("reset");
  connection = now;
  for (const watcher of watchers) watcher(now);
}

function tell(kind: LiveEvent): void {
  for (const listener of listeners) listener(kind);
}
