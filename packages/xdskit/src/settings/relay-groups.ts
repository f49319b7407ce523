import { everyNode } from "@xdskit/server";

/** The layer of what a relay without groups gets from its origin. */
export const upstreamLayer = "upstream";

/** The groups of a relay as those of a server with folders: the layer of a group has its name, and is its folder. */
export function groupsWithFolders<Group extends { readonly name: string }>(groups: readonly Group[] | undefined) {
  // The only group has another name than its layer.
  return (
    groups?.map((group) => ({ ...group, folders: [group.name] })) ?? [
      { name: everyNode, match: {}, folders: [upstreamLayer] },
    ]
  );
}
