import { type Finding, throwIfAny } from "@xdskit/api";
import type { Node, TtlPolicy } from "@xdskit/protocol";
import type { Group } from "../contracts/group.js";
import type { GroupOf, GroupSettings, ViewSettings } from "../settings/group-settings.js";
import { checkLoadReportSettings } from "../settings/load-report-settings.js";
import { faultsOf, matcherOf } from "../settings/node-match.js";
import { rolloutFaults } from "../settings/rollout-settings.js";
import { anyOf, wrongWords } from "./option-checks.js";

/** Finds the group of a node. */
export interface Groups {
  /** `only`: it is one of these. If that is one group, the node has no say. */
  of(node: Node, only?: readonly string[]): Group | undefined;
  /** The groups of the settings, with or without nodes. */
  readonly configured: readonly Group[];
}

/** The name of the only group of a server that was given none: every node, every layer. */
export const everyNode = "all";

/** Checks the settings and makes them ready. Throws an XdskitError that lists everything wrong with them. */
export function createGroups(
  settings: readonly GroupSettings[] | GroupOf | undefined,
  ttlByDefault: TtlPolicy = "auto",
  views: ViewSettings = {},
): Groups {
  const ready = (own: Omit<Group, "ttl" | "key"> & { readonly ttl?: TtlPolicy | undefined }, key: string): Group => {
    const { name, layers, loadReports, ttl = ttlByDefault, resourceErrors } = own;
    const { onReject = views.onReject, rollout = views.rollout } = own;
    return { name, layers, loadReports, ttl, resourceErrors, onReject, rollout, key };
  };
  if (settings === undefined) {
    const all = ready({ name: everyNode, layers: undefined }, everyNode);
    return {
      of: (_node, only) => (only === undefined || only.includes(everyNode) ? all : undefined),
      configured: [all],
    };
  }
  if (typeof settings === "function") {
    const of = (node: Node, only?: readonly string[]) => {
      const own = settings(node);
      if (only !== undefined && own !== undefined && !only.includes(own.name)) return undefined;
      return own && ready(own, JSON.stringify([own.name, ...own.layers]));
    };
    return { of, configured: [] };
  }
  throwIfAny(groupFindings(settings));
  for (const [index, { loadReports }] of settings.entries()) {
    checkLoadReportSettings(loadReports, `groups[${index}].loadReports`);
  }
  const groups = settings.map((own) => ({
    group: ready(own, JSON.stringify([own.name, ...own.layers])),
    matches: matcherOf(own.match),
  }));
  return {
    of: (node, only) => {
      const allowed = only === undefined ? groups : groups.filter(({ group }) => only.includes(group.name));
      return allowed.find(({ matches }) => only?.length === 1 || matches(node))?.group;
    },
    configured: groups.map(({ group }) => group),
  };
}

function groupFindings(settings: readonly GroupSettings[]): Finding[] {
  const findings: Finding[] = [];
  const seen = new Set<string>();
  for (const [index, group] of settings.entries()) {
    const { name, match, layers, rollout } = group;
    const add = (field: keyof GroupSettings | `rollout.${string}`, message: string) => {
      findings.push({ code: "XDSKIT_GROUP_INVALID", severity: "error", field: `groups[${index}].${field}`, message });
    };
    for (const { option, known } of wrongWords(group)) add(option, `it must be ${anyOf(known)}`);
    for (const fault of rolloutFaults(rollout)) add(`rollout.${fault.field}`, fault.message);
    if (typeof name !== "string" || name === "") add("name", "a group needs a name");
    if (seen.has(name)) add("name", `there are two groups named ${JSON.stringify(name)}`);
    seen.add(name);
    // A program without types may leave out what the types ask for.
    if (match === undefined)
      add("match", 'a group needs it: its nodes, such as { cluster: "edge-*" }; {} is every node');
    else for (const fault of faultsOf(match)) add("match", fault);
    if (layers === undefined) add("layers", 'a group needs it: the layers that it is served, such as ["default"]');
    else if (layers.length === 0) add("layers", `group ${JSON.stringify(name)} has no layers to serve`);
    else if (layers.some((layer) => typeof layer !== "string")) add("layers", "each is a layer's name, a string");
    else if (new Set(layers).size < layers.length) add("layers", `group ${JSON.stringify(name)} names a layer twice`);
  }
  return findings;
}
