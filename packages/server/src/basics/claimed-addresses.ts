import { type ListeningAddress, listeningAddresses, perObject, type Resource } from "@xdskit/api";

/**
 * The addresses that a resource takes from other listeners, each once; none if it is no listener. An Envoy gets all
 * listeners, except those with names of xdstp, which it must ask for. Of several variants a client gets one.
 */
export function claimedAddresses(resource: Resource): readonly ListeningAddress[] {
  if (resource.type.name !== "listener") return none;
  if (resource.name.startsWith("xdstp:") || resource.variant !== undefined) return none;
  return distinctAddresses(resource);
}

const distinctAddresses = perObject((resource: Resource): readonly ListeningAddress[] => {
  const seen = new Set<string>();
  return listeningAddresses(resource).filter(({ key }) => !seen.has(key) && seen.add(key));
});

const none: readonly ListeningAddress[] = [];
