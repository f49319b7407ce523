import type { NodeMatch } from "@xdskit/server";

/** The arguments of `xdskit bootstrap` for a node that a server lets in. */
export interface ExampleNode {
  /** The name of the group that it comes to; undefined where there are no groups. */
  readonly group: string | undefined;
  /** With a space before each. */
  readonly flags: string;
}

/** A node of the first group: groups are tried in order, so that no other one takes it. Without groups, and where a group takes every node, the usual one will do. */
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
    // Whatever a node says of itself is good enough.
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

/** As a shell takes it for one word. */
function quoted(text: string): string {
  return /^[\w.,:@=/+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
