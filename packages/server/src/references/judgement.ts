import { type Finding, mostFindings, type XdskitErrorCode } from "@xdskit/api";
import { getOrInsert } from "../basics/maps.js";
import type { Referrer } from "../contracts/references-broken.js";

/** What a change does wrong, and the names of the groups in whose stacks it does. */
export interface FoundInGroups<What> {
  readonly what: What;
  readonly groups: readonly string[];
}

/** What `find` finds in the stacks, each thing once. */
export function foundInGroups<Stack extends { groups(): readonly string[] }, What>(
  stacks: Iterable<Stack>,
  find: (stack: Stack) => readonly What[],
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
  readonly about: Referrer;
  readonly message: string;
  readonly field?: string;
}

/** The error that `make` makes of the findings, and of what they are about; undefined for none. */
export function errorOfFound<What, Made>(
  code: XdskitErrorCode,
  found: readonly FoundInGroups<What>[],
  describe: (one: FoundInGroups<What>) => FindingAbout,
  further: string,
  make: (findings: readonly [Finding, ...Finding[]], about: readonly Referrer[]) => Made,
): Made | undefined {
  const described = found.slice(0, mostFindings).map(describe);
  const [first, ...rest] = described.map(({ about: { resource }, message, field }): Finding => {
    const where = { type: resource.type.name, resource: resource.name, ...(field === undefined ? {} : { field }) };
    return { code, severity: "error", message, ...where };
  });
  if (first === undefined) return undefined;
  const more = found.length - mostFindings;
  if (more > 0) rest.push({ code, severity: "error", message: `${more} ${further}` });
  return make(
    [first, ...rest],
    described.map(({ about }) => about),
  );
}
