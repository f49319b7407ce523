import type { ServerEvent } from "../contracts/events.js";

/**
 * Events that come with every push, or from every client that connects: they travel between threads only where somebody
 * listens to them.
 */
export const frequentEvents: ReadonlySet<ServerEvent["kind"]> = new Set([
  "subscribed",
  "acknowledged",
  "synced",
  "stale",
  "ttl-untold",
]);
