import { type ListeningAddress, listeningAddresses, type Resource } from "@xdskit/api";

const known = new WeakMap<Resource, readonly ListeningAddress[]>();

/**
 * The addresses that a resource takes from other listeners, each once; none if it is no listener. An Envoy gets all
 * listeners, except those with names of xdstp, which it must ask for. Of several variants a client gets one.
 */
export function claimedAddresses(resource: Resource): readonly ListeningAddress[] {
  if (resource.type.name !== "listener") return none;
  if (resource.name.startsWith("xdstp:") || resource.variant !== undefined) return none;
  const before = known.get(resource);
  if (before !== undefined) return before;
  const seen = new Set<string>();
  const claimed = listeningAddresses(resource).filter(({ key }) => !seen.has(key) && seen.add(key));
  known.set(resource, claimed);
  return claimed;
}

const none: readonly ListeningAddress[] = [];
