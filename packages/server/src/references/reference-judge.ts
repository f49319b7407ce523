import { authorityOf, type Finding, type ResourceName, type ResourceType, type TypeUrl } from "@xdskit/api";
import type { LayerChange, Layers } from "../configuration/layers.js";
import { ReferencesBroken, type Referrer } from "../contracts/references-broken.js";
import type { LayerUpdate } from "../contracts/source.js";
import { type BrokenReference, brokenInStack, type JudgedStack, mostReferrers } from "./broken-in-stack.js";
import { PlannedLayers } from "./planned-layers.js";

/** A stack, and the groups that have it. */
export interface JudgedGroups extends JudgedStack {
  /** Their names; called only for a change that breaks something. */
  readonly groups: () => readonly string[];
}

export interface ReferenceJudgeOptions {
  readonly layers: Layers;
  /** The stacks that a change touches, if their groups are served something already. */
  stacksOf(changes: readonly LayerChange[], planned: PlannedLayers): Iterable<JudgedGroups>;
  /** v3 type URLs of types that are supplied on demand: a removed resource may come back as soon as a client asks. */
  readonly supplied: ReadonlySet<TypeUrl>;
  /** The authorities that are served; undefined: any. */
  readonly authorities: ReadonlySet<string> | undefined;
}

/** People read no more; the last finding gives the number of the others. */
const mostFindings = 100;
const mostGroups = 5;

/**
 * Clients go on without them: a cluster without a load assignment has no endpoints, as one with an empty one has.
 */
const endpoints: ReadonlySet<TypeUrl> = new Set([
  "type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment",
  "type.googleapis.com/envoy.config.endpoint.v3.LbEndpoint",
]);

/** Finds the references that changes would break, before they are made. */
export class ReferenceJudge {
  readonly #options: ReferenceJudgeOptions;

  constructor(options: ReferenceJudgeOptions) {
    this.#options = options;
  }

  /** Whether a change may remove something: only such a change can break a reference. */
  concerns(updates: readonly LayerUpdate[]): boolean {
    return updates.some(({ kind, remove = [] }) => kind === "replace" || remove.length > 0);
  }

  /** Undefined: the change breaks no reference. Costs the change, not the whole configuration. */
  judge(changes: readonly LayerChange[]): ReferencesBroken | undefined {
    if (changes.every(({ removed }) => removed.length === 0)) return undefined;
    const planned = new PlannedLayers(this.#options.layers, changes);
    const broken = new Map<string, { readonly what: BrokenReference; readonly groups: string[] }>();
    for (const stack of this.#options.stacksOf(changes, planned)) {
      for (const what of brokenInStack(stack, changes, planned, this.#isMissed)) {
        const key = `${what.type.typeUrl} ${what.name}`;
        const known = broken.get(key);
        if (known === undefined) broken.set(key, { what, groups: [...stack.groups()] });
        else known.groups.push(...stack.groups());
      }
    }
    return errorOf([...broken.values()]);
  }

  readonly #isMissed = (type: ResourceType, name: ResourceName): boolean => {
    const { supplied, authorities } = this.#options;
    if (endpoints.has(type.typeUrl) || supplied.has(type.typeUrl)) return false;
    const authority = authorityOf(name);
    // If no authorities are set, a client may ask another server for names with an authority.
    return authority === undefined || authority === "" || authorities?.has(authority) === true;
  };
}

function errorOf(broken: readonly { readonly what: BrokenReference; readonly groups: readonly string[] }[]) {
  const findings: Finding[] = [];
  const referrers: Referrer[] = [];
  for (const { what, groups } of broken.slice(0, mostFindings)) {
    const [first, ...others] = what.referrers;
    if (first === undefined) continue;
    referrers.push(first);
    findings.push({
      code: "XDSKIT_REFERENCE_BROKEN",
      severity: "error",
      message: messageOf(what, others, groups),
      type: first.resource.type.name,
      resource: first.resource.name,
    });
  }
  const more = broken.length - mostFindings;
  if (more > 0) {
    const message = `${more} further resources would go that others name`;
    findings.push({ code: "XDSKIT_REFERENCE_BROKEN", severity: "error", message });
  }
  const [first, ...rest] = findings;
  return first === undefined ? undefined : new ReferencesBroken([first, ...rest], referrers);
}

function messageOf({ type, name }: BrokenReference, others: readonly Referrer[], groups: readonly string[]): string {
  const shown = others.slice(0, mostReferrers - 1).map(({ resource }) => `${resource.type.name} "${resource.name}"`);
  if (others.length >= mostReferrers) shown.push("more");
  const also = shown.length === 0 ? "" : `, as ${shown.join(", ")} ${shown.length === 1 ? "does" : "do"}`;
  const inGroups =
    groups.length > mostGroups
      ? `groups ${groups.slice(0, mostGroups).join(", ")} and ${groups.length - mostGroups} more`
      : `group ${groups.join(", ")}`;
  const what = `${type.name} "${name}"`;
  return `names ${what}${also}, which this change takes from ${inGroups}; keep it, or let the same change name something else (references: warn applies it anyway)`;
}
