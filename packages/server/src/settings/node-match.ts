import type { Node } from "@xdskit/protocol";
import { matchesGlob } from "../basics/glob.js";

/**
 * Conditions on a node, all of which must hold; `{}` matches every node. The keys are `id`, `cluster`,
 * `locality.region`, `locality.zone`, `locality.sub_zone` and `metadata.<path>`; the values are exact, or globs with
 * `*` and `?`. A metadata field that the node does not have never matches.
 */
export type NodeMatch = Readonly<Record<string, string | number | boolean>>;

/** Makes a match ready, to be asked often. */
export function matcherOf(match: NodeMatch): (node: Node) => boolean {
  const conditions = Object.entries(match).map(([key, pattern]) => condition(key, String(pattern)));
  return (node) => conditions.every((holds) => holds(node));
}

/** The errors of a match. */
export function faultsOf(match: NodeMatch): readonly string[] {
  return Object.entries(match).flatMap(([key, pattern]: [string, unknown]) => {
    const shown = JSON.stringify(key);
    if (fieldOf(key) === undefined)
      return `unknown key ${shown}: it must be id, cluster, locality.region, locality.zone, locality.sub_zone or metadata.<path>`;
    const isScalar = ["string", "number", "boolean"].includes(typeof pattern);
    return isScalar ? [] : `the value of ${shown} must be a string, a number, true or false`;
  });
}

function condition(key: string, pattern: string): (node: Node) => boolean {
  const read = fieldOf(key);
  return (node) => {
    const value = read?.(node);
    return value !== undefined && matchesGlob(pattern, value);
  };
}

const metadataPrefix = "metadata.";

function fieldOf(key: string): ((node: Node) => string | undefined) | undefined {
  switch (key) {
    case "id":
      return (node) => node.id;
    case "cluster":
      return (node) => node.cluster;
    case "locality.region":
      return (node) => node.locality.region;
    case "locality.zone":
      return (node) => node.locality.zone;
    case "locality.sub_zone":
      return (node) => node.locality.subZone;
    default: {
      if (!key.startsWith(metadataPrefix) || key.length === metadataPrefix.length) return undefined;
      const path = key.slice(metadataPrefix.length);
      return (node) => scalarAt(node.metadata, path);
    }
  }
}

/**
 * The scalar at a dotted path. A key may hold dots itself, as in `metadata.app.kubernetes.io/name`: the longest key
 * wins.
 */
function scalarAt(value: unknown, path: string): string | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  const fields = new Map<string, unknown>(Object.entries(value));
  for (let end = path.length; end > 0; end = path.lastIndexOf(".", end - 1)) {
    const key = path.slice(0, end);
    if (!fields.has(key)) continue;
    const inner = fields.get(key);
    if (end < path.length) {
      const found = scalarAt(inner, path.slice(end + 1));
      if (found !== undefined) return found;
    } else if (typeof inner === "string" || typeof inner === "number" || typeof inner === "boolean") {
      return String(inner);
    }
  }
  return undefined;
}
