import type { NodeMatch } from "@xdskit/server";

/** The arguments of `xdskit bootstrap` for a node that the server accepts. */
export interface ExampleNode {
  /** The group of the node; undefined without groups. */
  readonly group: string | undefined;
  /** With a space before each. */
  readonly flags: string;
}

/**
 * A node of the first group: groups are tried in order, so no other group takes it. Without groups, and if the group
 * takes every node, the default node will do.
 */
export function exampleNode(
  groups: readonly { readonly name: string; readonly match: NodeMatch }[] | undefined,
): ExampleNode {
  const [first] = groups ?? [];
  if (first === undefined) return { group: undefined, flags: "" };
  const flags: string[] = [];
  const locality: Partial<Record<string, string>> = {};
  for (const [key, pattern] of Object.entries(first.match)) {
    const value = String(pattern).replace(/[*?]/g, "1");
    if (key.startsWith("metadata.")) flags.push(`--metadata ${quoted(`${key.slice("metadata.".length)}=${value}`)}`);
    // Any value of a node will do.
    else if (pattern === "*") continue;
    else if (key.startsWith("locality.")) locality[key.slice("locality.".length)] = value;
    else if (key === "id") flags.push(`--node-id ${quoted(value)}`);
    else flags.push(`--node-cluster ${quoted(value)}`);
  }
  const { region = "", zone = "", sub_zone: subZone = "" } = locality;
  const place = [region, zone, subZone].join("/").replace(/\/+$/, "");
  if (place !== "") flags.push(`--locality ${quoted(place)}`);
  return { group: first.name, flags: flags.map((flag) => ` ${flag}`).join("") };
}

/** Quoted as one word for a shell. */
function quoted(text: string): string {
  return /^[\w.,:@=/+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
