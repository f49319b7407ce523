import type { Reference, Resource, ResourceName, ResourceType, Version } from "@xdskit/api";

/** No resource has this body: it stands for one that only clients know. */
const unknownBody = new Uint8Array();

/**
 * Stands for a resource that only a client has. The server can remove it, and cannot send it. `references`: what it may
 * name. Unlike those of real content, its version does not tell them.
 */
export function unknownContent(
  type: ResourceType,
  name: ResourceName,
  version: Version,
  references: readonly Reference[],
): Resource {
  const none = { aliases: [], variant: undefined, ttl: undefined };
  return { type, name, key: name, version, body: unknownBody, references, ...none };
}

export function hasContent({ body }: Resource): boolean {
  return body !== unknownBody;
}
