import { fieldNaming, listNames, type Reference, referenceText, type TypeUrl, type XdskitError } from "@xdskit/api";
import { errorOfFound, foundInGroups } from "../../configuration/judgement.js";
import type { LayerResource } from "../../contracts/layer-change.js";
import type { Judge, JudgedChange } from "../../contracts/parts/judge.js";
import type { LayerUpdate } from "../../contracts/source.js";
import { brokenInStack, maxReferrers } from "./broken-in-stack.js";
import { type JudgingKernel, referencesNow } from "./references-now.js";
import { stackAfter } from "./stack-after.js";

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
    const isMissed = (reference: Reference) => !endpoints.has(reference.type) && isOwnName(reference);
    const { types, options } = this.#kernel;
    const broken = foundInGroups(
      stacks,
      (stack) => brokenInStack(stack, stackAfter(stack, changes, types), isMissed),
      ({ reference: { type, name } }) => `${type} ${name}`,
    );
    return errorOfFound(
      "XDSKIT_REFERENCE_BROKEN",
      broken,
      ({ what, groups }) => {
        const { reference } = what;
        const [about, ...others] = what.referrers as readonly [LayerResource, ...LayerResource[]];
        const field = fieldNaming(about.resource, reference, options.registry);
        return { about, message: messageOf(referenceText(reference, types), others, groups), field, reference };
      },
      "further resources would go that others name",
      whereIs,
    );
  }
}

function messageOf(what: string, others: readonly LayerResource[], groups: readonly string[]): string {
  const shown = others.slice(0, maxReferrers - 1).map(({ resource }) => `${resource.type.name} "${resource.name}"`);
  if (others.length >= maxReferrers) shown.push("more");
  const also = shown.length === 0 ? "" : `, as ${shown.join(", ")} ${shown.length === 1 ? "does" : "do"}`;
  const inGroups = `${groups.length === 1 ? "group" : "groups"} ${listNames(groups)}`;
  return `names ${what}${also}, which this change takes from ${inGroups}; keep it, or let the same change name something else (references: warn applies it anyway)`;
}
