import { type Finding, XdskitError } from "@xdskit/api";
import type { Node, ResourceErrorPolicy, TtlPolicy } from "@xdskit/protocol";
import { matchesGlob } from "./glob.js";
import { checkLoadReportSettings, type LoadReportSettings } from "./load-reports/load-report-settings.js";
import type { LayerName } from "./source.js";

/** A group of nodes and the layers that they are served. Groups are tried in order; the first that matches a node wins. */
export interface GroupSettings {
  readonly name: string;
  /**
   * What must hold of a node, all of it; `{}` matches every node. The keys are `id`, `cluster`, `locality.region`, `locality.zone`,
   * `locality.sub_zone` and `metadata.<path>`; the values are exact, or globs with `*` and `?`. A metadata field that the node does not
   * have never matches.
   */
  readonly match: Readonly<Record<string, string | number | boolean>>;
  /** From the lowest to the highest: a later layer wins over an earlier one by type and name. */
  readonly layers: readonly LayerName[];
  /** What its nodes are asked to report of their load; what is left out is as the server's options say. */
  readonly loadReports?: Partial<LoadReportSettings> | undefined;
  /** Which of its clients are told TTLs; see `TtlPolicy`. Default: `ttl` of the server's options. */
  readonly ttl?: TtlPolicy | undefined;
  /** Which of its clients are told why resources are not there. Default: `resourceErrors` of the server's options. */
  readonly resourceErrors?: ResourceErrorPolicy | undefined;
}

/**
 * A program's own way to group nodes. A node for which it returns undefined, or no layers, is refused with PERMISSION_DENIED. Asked once
 * for a stream; a group is there while one of its nodes has a stream. Groups with the same layers share all work.
 */
export type GroupOf = (
  node: Node,
) => Pick<GroupSettings, "name" | "layers" | "loadReports" | "ttl" | "resourceErrors"> | undefined;

/** A group as the server knows it. */
export interface Group {
  readonly name: string;
  /** Undefined: every layer that there is, in the order in which they first appeared. */
  readonly layers: readonly LayerName[] | undefined;
  readonly loadReports?: Partial<LoadReportSettings> | undefined;
  readonly ttl: TtlPolicy;
  readonly resourceErrors?: ResourceErrorPolicy | undefined;
  /** Tells it from every other. */
  readonly key: string;
}

/** Finds the group of a node. */
export interface Groups {
  of(node: Node): Group | undefined;
  /** Those that are there with and without nodes. */
  readonly configured: readonly Group[];
}

/** The name of the only group of a server that was given none: every node, every layer. */
export const everyNode = "all";

/** Checks the settings and makes them ready. Throws an XdskitError that lists everything wrong with them. */
export function createGroups(
  settings: readonly GroupSettings[] | GroupOf | undefined,
  ttlByDefault: TtlPolicy = "advertised",
): Groups {
  if (settings === undefined) {
    const all: Group = { name: everyNode, layers: undefined, ttl: ttlByDefault, key: everyNode };
    return { of: () => all, configured: [all] };
  }
  if (typeof settings === "function") {
    const of = (node: Node) => {
      const found = settings(node);
      if (found === undefined) return undefined;
      const key = JSON.stringify([found.name, ...found.layers]);
      return { ...found, ttl: found.ttl ?? ttlByDefault, key };
    };
    return { of, configured: [] };
  }
  const [first, ...rest] = findingsOf(settings);
  if (first !== undefined) throw new XdskitError([first, ...rest]);
  for (const [index, { loadReports }] of settings.entries()) {
    checkLoadReportSettings(loadReports, `groups[${index}].loadReports`);
  }
  const ready = settings.map(({ name, match, layers, loadReports, ttl = ttlByDefault, resourceErrors }) => ({
    group: { name, layers, loadReports, ttl, resourceErrors, key: name },
    conditions: Object.entries(match).map(([key, pattern]) => condition(key, String(pattern))),
  }));
  return {
    of: (node) => ready.find(({ conditions }) => conditions.every((holds) => holds(node)))?.group,
    configured: ready.map(({ group }) => group),
  };
}

function findingsOf(settings: readonly GroupSettings[]): Finding[] {
  const findings: Finding[] = [];
  const add = (field: string, message: string) =>
    findings.push({ code: "XDSKIT_GROUP_INVALID", severity: "error", field, message });
  const seen = new Set<string>();
  settings.forEach(({ name, match, layers, ttl = "advertised", resourceErrors: errors = "advertised" }, index) => {
    const field = `groups[${index}]`;
    if (name === "") add(`${field}.name`, "a group needs a name");
    if (seen.has(name)) add(`${field}.name`, `there are two groups named ${JSON.stringify(name)}`);
    seen.add(name);
    for (const key of Object.keys(match)) {
      if (fieldOf(key) === undefined) {
        add(
          `${field}.match`,
          `unknown key ${JSON.stringify(key)}: it must be id, cluster, locality.region, locality.zone, locality.sub_zone or metadata.<path>`,
        );
      }
    }
    if (ttl !== "advertised" && ttl !== "always") add(`${field}.ttl`, "it must be advertised or always");
    if (errors !== "advertised" && errors !== "always")
      add(`${field}.resourceErrors`, "it must be advertised or always");
    if (layers.length === 0) add(`${field}.layers`, `group ${JSON.stringify(name)} has no layers to serve`);
    if (new Set(layers).size < layers.length) {
      add(`${field}.layers`, `group ${JSON.stringify(name)} names a layer twice`);
    }
  });
  return findings;
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

/** The scalar at a dotted path. A key may hold dots itself, as in `metadata.app.kubernetes.io/name`: the longest key wins. */
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
