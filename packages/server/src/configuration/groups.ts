import { type Finding, XdskitError } from "@xdskit/api";
import { type Node, type ResourceErrorPolicy, type TtlPolicy, ttlPolicies } from "@xdskit/protocol";
import type { GroupOf, GroupSettings, LayerName, ViewSettings } from "../settings/group-settings.js";
import { checkLoadReportSettings, type LoadReportSettings } from "../settings/load-report-settings.js";
import { faultsOf, matcherOf } from "../settings/node-match.js";
import { rolloutFaults } from "../settings/rollout-settings.js";

/** A group as the server knows it. */
export interface Group extends ViewSettings {
  readonly name: string;
  /** Undefined: every layer that there is, in the order in which they first appeared. */
  readonly layers: readonly LayerName[] | undefined;
  readonly loadReports?: Partial<LoadReportSettings> | undefined;
  readonly ttl: TtlPolicy;
  readonly resourceErrors?: ResourceErrorPolicy | undefined;
  /** Unique among groups. */
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
  ttlByDefault: TtlPolicy = "auto",
  views: ViewSettings = {},
): Groups {
  if (settings === undefined) {
    const all: Group = { name: everyNode, layers: undefined, ttl: ttlByDefault, ...viewsOf(views, {}), key: everyNode };
    return { of: () => all, configured: [all] };
  }
  if (typeof settings === "function") {
    const of = (node: Node) => {
      const found = settings(node);
      if (found === undefined) return undefined;
      const { name, layers, loadReports, ttl = ttlByDefault, resourceErrors } = found;
      const { onReject, rollout } = viewsOf(views, found);
      return {
        name,
        layers,
        loadReports,
        ttl,
        resourceErrors,
        onReject,
        rollout,
        key: JSON.stringify([name, ...layers]),
      };
    };
    return { of, configured: [] };
  }
  const [first, ...rest] = findingsOf(settings);
  if (first !== undefined) throw new XdskitError([first, ...rest]);
  for (const [index, { loadReports }] of settings.entries()) {
    checkLoadReportSettings(loadReports, `groups[${index}].loadReports`);
  }
  const ready = settings.map((each) => {
    const { name, match, layers, loadReports, ttl = ttlByDefault, resourceErrors } = each;
    const group: Group = { name, layers, loadReports, ttl, resourceErrors, ...viewsOf(views, each), key: name };
    return { group, matches: matcherOf(match) };
  });
  return {
    of: (node) => ready.find(({ matches }) => matches(node))?.group,
    configured: ready.map(({ group }) => group),
  };
}

function viewsOf(byDefault: ViewSettings, own: ViewSettings): ViewSettings {
  const onReject = own.onReject ?? byDefault.onReject;
  const rollout = own.rollout ?? byDefault.rollout;
  return { ...(onReject === undefined ? {} : { onReject }), ...(rollout === undefined ? {} : { rollout }) };
}

function findingsOf(settings: readonly GroupSettings[]): Finding[] {
  const findings: Finding[] = [];
  const add = (field: string, message: string) =>
    findings.push({ code: "XDSKIT_GROUP_INVALID", severity: "error", field, message });
  const seen = new Set<string>();
  settings.forEach((group, index) => {
    const { name, match, layers, ttl = "auto", resourceErrors: errors = "advertised" } = group;
    const field = `groups[${index}]`;
    const { onReject = "newest", rollout } = group;
    if (onReject !== "newest" && onReject !== "lastGood") add(`${field}.onReject`, "it must be newest or lastGood");
    for (const fault of rolloutFaults(rollout)) add(`${field}.rollout.${fault.field}`, fault.message);
    if (name === "") add(`${field}.name`, "a group needs a name");
    if (seen.has(name)) add(`${field}.name`, `there are two groups named ${JSON.stringify(name)}`);
    seen.add(name);
    for (const fault of faultsOf(match)) add(`${field}.match`, fault);
    if (!ttlPolicies.includes(ttl)) add(`${field}.ttl`, "it must be auto, advertised or always");
    if (errors !== "advertised" && errors !== "always")
      add(`${field}.resourceErrors`, "it must be advertised or always");
    if (layers.length === 0) add(`${field}.layers`, `group ${JSON.stringify(name)} has no layers to serve`);
    if (new Set(layers).size < layers.length) {
      add(`${field}.layers`, `group ${JSON.stringify(name)} names a layer twice`);
    }
  });
  return findings;
}
