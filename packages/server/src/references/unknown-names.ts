import {
  fieldNaming,
  isCollection,
  listNames,
  type Reference,
  type Registry,
  type ResourceTypes,
  type XdskitError,
} from "@xdskit/api";
import { calledName } from "@xdskit/protocol";
import { idOf } from "../basics/id-of.js";
import { errorOfFound, foundInGroups } from "../configuration/judgement.js";
import type { LayerChange, LayerResource } from "../contracts/layer-change.js";
import type { Judge, JudgedChange, JudgedStack } from "../contracts/parts/judge.js";
import type { LayerUpdate } from "../contracts/source.js";
import type { IsOwnName } from "./own-names.js";

export interface UnknownNameJudgeOptions {
  /** A type that it does not have can only come from another server. */
  readonly types: ResourceTypes;
  readonly registry: Registry | undefined;
  readonly isOwnName: IsOwnName;
  /** The names that clients have from elsewhere now. */
  readonly except: () => ReadonlySet<string>;
}

/** A name that a change brings, and that nobody in the stack has after it. */
interface UnknownName {
  readonly by: LayerResource;
  readonly reference: Reference;
}

/** Finds names that a change brings and that nobody has, before it is made. */
export class UnknownNameJudge implements Judge {
  /** The first content of a source has no name that is not new. */
  readonly judgesStart = true;
  readonly #options: UnknownNameJudgeOptions;

  constructor(options: UnknownNameJudgeOptions) {
    this.#options = options;
  }

  /** Whether a change may bring a name, or let one come to light. */
  concerns(updates: readonly LayerUpdate[]): boolean {
    return updates.some(({ kind, upsert, remove = [] }) => kind === "replace" || upsert.length + remove.length > 0);
  }

  /** Undefined: each name that the change brings is there, or is excepted. Costs the change. */
  judge({ changes, stacks, whereIs }: JudgedChange): XdskitError | undefined {
    const found = foundInGroups(
      stacks,
      (stack) => this.#unknownIn(stack, changes),
      ({ by, reference }) => `${idOf(by.resource)} ${reference.type} ${reference.name}`,
    );
    return errorOfFound(
      "XDSKIT_DANGLING_REFERENCE",
      found,
      ({ what: { by, reference }, groups }) => ({
        ...{ about: by, reference },
        field: fieldNaming(by.resource, reference, this.#options.registry),
        message: this.#messageOf(reference, groups),
      }),
      "further names are not there",
      whereIs,
    );
  }

  #unknownIn({ order, before, winner }: JudgedStack, changes: readonly LayerChange[]): readonly UnknownName[] {
    const { types, isOwnName, except } = this.#options;
    const concerned = changes.filter(({ layer }) => order.includes(layer));
    const upserted = concerned.flatMap((change) => change.upserted);
    const brought = new Set(upserted.map((one) => idOf({ type: one.type, key: calledName(one) })));
    const isThere = ({ type: url, name }: Reference): boolean => {
      const type = types.byTypeUrl(url)?.type;
      // Nobody could ask this server for it.
      if (type === undefined || brought.has(idOf({ type, key: name })) || winner(type, name) !== undefined) return true;
      // A variant of it.
      return before
        .of(type)
        .named(name)
        .some(({ key }) => winner(type, key) !== undefined);
    };
    const excepted = except();
    const found: UnknownName[] = [];
    const removed = concerned.flatMap((change) => change.removed.map(({ type, name }) => ({ type, key: name })));
    const touched = new Map([...upserted, ...removed].map((one) => [idOf(one), one]));
    for (const { type, key } of touched.values()) {
      const by = winner(type, key);
      if (by === undefined) continue;
      const had = before.of(type).get(key)?.references ?? [];
      for (const reference of by.resource.references) {
        if (isCollection(reference) || excepted.has(reference.name) || !isOwnName(reference)) continue;
        const isNew = !had.some(({ type, name }) => type === reference.type && name === reference.name);
        if (isNew && !isThere(reference)) found.push({ by, reference });
      }
    }
    return found;
  }

  #messageOf({ type, name }: Reference, groups: readonly string[]): string {
    const what = `${this.#options.types.byTypeUrl(type)?.type.name ?? type} ${JSON.stringify(name)}`;
    const inGroups = `${groups.length === 1 ? "group" : "groups"} ${listNames(groups)}`;
    return `names ${what}, which nobody has in ${inGroups}; correct the name, add what it names, or list it under references_except if clients have it from elsewhere (references: refuse applies it with a warning)`;
  }
}
