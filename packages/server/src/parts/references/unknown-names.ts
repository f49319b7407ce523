import { fieldNaming, missingNameText, type Reference, type XdskitError } from "@xdskit/api";
import { isNamedBy } from "@xdskit/protocol";
import { idOf } from "../../basics/id-of.js";
import { errorOfFound, foundInGroups } from "../../configuration/judgement.js";
import type { LayerResource } from "../../contracts/layer-change.js";
import type { Judge, JudgedChange, JudgedStack } from "../../contracts/parts/judge.js";
import type { LayerUpdate } from "../../contracts/source.js";
import { type JudgingKernel, referencesNow } from "./references-now.js";
import { stackAfter } from "./stack-after.js";

/** A name that a change brings, and that nobody in the stack has after it. */
interface UnknownName {
  readonly by: LayerResource;
  readonly reference: Reference;
}

/** Finds names that a change brings and that nobody has, before it is made. */
export class UnknownNameJudge implements Judge {
  /** The first content of a source has no name that is not new. */
  readonly judgesStart = true;
  readonly #kernel: JudgingKernel;

  constructor(kernel: JudgingKernel) {
    this.#kernel = kernel;
  }

  /** Whether a change may bring a name, or let one come to light. */
  concerns(updates: readonly LayerUpdate[]): boolean {
    if (referencesNow(this.#kernel) !== "strict") return false;
    return updates.some(({ kind, upsert, remove = [] }) => kind === "replace" || upsert.length + remove.length > 0);
  }

  /** Undefined: each name that the change brings is there, or is excepted. Costs the change. */
  judge(change: JudgedChange): XdskitError | undefined {
    const found = foundInGroups(
      change.stacks,
      (stack) => this.#unknownIn(stack, change),
      ({ by, reference }) => `${idOf(by.resource)} ${reference.type} ${reference.name}`,
    );
    return errorOfFound(
      "XDSKIT_DANGLING_REFERENCE",
      found,
      ({ what: { by, reference }, groups }) => ({
        about: by,
        reference,
        field: fieldNaming(by.resource, reference, this.#kernel.options.registry),
        message: this.#messageOf(reference, groups),
      }),
      "further names are not there",
      change.whereIs,
    );
  }

  #unknownIn(
    stack: JudgedStack,
    { changes, isOwnName }: Pick<JudgedChange, "changes" | "isOwnName">,
  ): readonly UnknownName[] {
    const { types, live } = this.#kernel;
    const { has, touched } = stackAfter(stack, changes, types);
    const excepted = new Set(live.referencesExcept);
    return touched().flatMap((by) => {
      const had = stack.before.of(by.resource.type).get(by.resource.key);
      const isMissed = (reference: Reference) =>
        !excepted.has(reference.name) && isOwnName(reference) && !isNamedBy(had, reference) && !has(reference);
      return by.resource.references.filter(isMissed).map((reference) => ({ by, reference }));
    });
  }

  #messageOf(reference: Reference, groups: readonly string[]): string {
    const missing = missingNameText(reference, this.#kernel.types, groups);
    return `${missing}; correct the name, add what it names, or list it under references_except if clients have it from elsewhere (references: refuse applies it with a warning)`;
  }
}
