import { type Finding, getOrInsert, maxFindings, type Reference, XdskitError, type XdskitErrorCode } from "@xdskit/api";
import type { LayerResource } from "../contracts/layer-change.js";
import type { JudgedStack, WhereWritten } from "../contracts/parts/judge.js";

/** What a change does wrong, and the names of the groups in whose stacks it does. */
export interface FoundInGroups<What> {
  readonly what: What;
  readonly groups: readonly string[];
}

/** What `find` finds in the stacks, each thing once. */
export function foundInGroups<What>(
  stacks: Iterable<JudgedStack>,
  find: (stack: JudgedStack) => readonly What[],
  idOf: (what: What) => string,
): readonly FoundInGroups<What>[] {
  const found = new Map<string, { readonly what: What; readonly groups: string[] }>();
  for (const stack of stacks) {
    for (const what of find(stack)) {
      getOrInsert(found, idOf(what), () => ({ what, groups: [] })).groups.push(...stack.groups());
    }
  }
  return [...found.values()];
}

/** A finding, and the resource that it is about. */
export interface FindingAbout {
  readonly about: LayerResource;
  readonly message: string;
  readonly field?: string | undefined;
  /** What its field names. */
  readonly reference?: Reference;
}

/** The error that says what was found; undefined for nothing. */
export function errorOfFound<What>(
  code: XdskitErrorCode,
  found: readonly FoundInGroups<What>[],
  describe: (one: FoundInGroups<What>) => FindingAbout,
  further: string,
  whereIs: WhereWritten,
): XdskitError | undefined {
  const [first, ...rest] = found.slice(0, maxFindings).map((one): Finding => {
    const { about, message, field, reference } = describe(one);
    const { type, name } = about.resource;
    const where = {
      ...whereIs(about, reference),
      type: type.name,
      resource: name,
      ...(field === undefined ? {} : { field }),
    };
    return { code, severity: "error", message, ...where };
  });
  if (first === undefined) return undefined;
  const more = found.length - maxFindings;
  if (more > 0) rest.push({ code, severity: "error", message: `${more} ${further}` });
  return new XdskitError([first, ...rest]);
}
