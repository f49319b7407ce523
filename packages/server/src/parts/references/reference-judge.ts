import {
  fieldNaming,
  listNames,
  type ResourceName,
  type ResourceType,
  type TypeUrl,
  type XdskitError,
} from "@xdskit/api";
import { errorOfFound, foundInGroups } from "../../configuration/judgement.js";
import type { LayerResource } from "../../contracts/layer-change.js";
import type { Judge, JudgedChange } from "../../contracts/parts/judge.js";
import type { LayerUpdate } from "../../contracts/source.js";
import { type BrokenReference, brokenInStack, maxReferrers } from "./broken-in-stack.js";
import { type JudgingKernel, referencesNow } from "./references-now.js";

/**
 * Clients go on without them: a cluster without a load assignment has no endpoints, as one with an empty one has.
 */
const endpoints: ReadonlySet<TypeUrl> = new Set([
  "type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment",
  "type.googleapis.com/envoy.config.endpoint.v3.LbEndpoint",
]);

/** Finds the references that changes would break, before they are made. */
export class ReferenceJudge implements Judge {
  readonly #kernel: JudgingKernel;

  constructor(kernel: JudgingKernel) {
    this.#kernel = kernel;
  }

  /** Whether a change may remove something: only such a change can break a reference. */
  concerns(updates: readonly LayerUpdate[]): boolean {
    if (referencesNow(this.#kernel) === "warn") return false;
    return updates.some(({ kind, remove = [] }) => kind === "replace" || remove.length > 0);
  }

  /** Undefined: the change breaks no reference. Costs the change, not the whole configuration. */
  judge({ changes, stacks, whereIs, isOwnName }: JudgedChange): XdskitError | undefined {
    if (changes.every(({ removed }) => removed.length === 0)) return undefined;
    const isMissed = (type: ResourceType, name: ResourceName) =>
      !endpoints.has(type.typeUrl) && isOwnName({ type: type.typeUrl, name });
    const broken = foundInGroups(
      stacks,
      (stack) => brokenInStack(stack, changes, isMissed),
      ({ type, name }) => `${type.typeUrl} ${name}`,
    );
    return errorOfFound(
      "XDSKIT_REFERENCE_BROKEN",
      broken.filter(({ what }) => what.referrers.length > 0),
      ({ what, groups }) => {
        const [about, ...others] = what.referrers as readonly [LayerResource, ...LayerResource[]];
        const reference = { type: what.type.typeUrl, name: what.name };
        const field = fieldNaming(about.resource, reference, this.#kernel.options.registry);
        return { about, message: messageOf(what, others, groups), field, reference };
      },
      "further resources would go that others name",
      whereIs,
    );
  }
}

function messageOf(
  { type, name }: BrokenReference,
  others: readonly LayerResource[],
  groups: readonly string[],
): string {
  const shown = others.slice(0, maxReferrers - 1).map(({ resource }) => `${resource.type.name} "${resource.name}"`);
  if (others.length >= maxReferrers) shown.push("more");
  const also = shown.length === 0 ? "" : `, as ${shown.join(", ")} ${shown.length === 1 ? "does" : "do"}`;
  const inGroups = `${groups.length === 1 ? "group" : "groups"} ${listNames(groups)}`;
  const what = `${type.name} "${name}"`;
  return `names ${what}${also}, which this change takes from ${inGroups}; keep it, or let the same change name something else (references: warn applies it anyway)`;
}
