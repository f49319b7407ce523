import { nodePatternFault } from "./patterns/node-pattern.js";
import { checkWhen } from "./rules.js";
import type { When } from "./when.js";

/** Says which nodes a caller may be, and what it is told; or that it may be none. */
export interface IdentityRule {
  readonly when: When;
  /**
   * The nodes that the caller may be: `{name}` stands for what `when` kept, `*` for any text. `{}`: any. A field that
   * is left out may be anything.
   */
  readonly node?: { readonly id?: string | undefined; readonly cluster?: string | undefined } | undefined;
  /** In place of all that follows `when`: whoever this holds for is refused, and no later rule is asked. */
  readonly deny?: boolean | undefined;
  /**
   * The groups that the caller may be in. One: it is in that group, whatever its node says. Several: the first of the
   * server's groups that is named here and matches the node. Default: as without identities.
   */
  readonly groups?: readonly string[] | undefined;
  /** Whether it gets secrets (SDS). Default false: for this caller there are none. */
  readonly secrets?: boolean | undefined;
  /**
   * A stream ends at this age, or up to a tenth sooner, and its client comes again: many that came together do not go
   * together. At least a minute. Default: never.
   */
  readonly maxAgeMs?: number | undefined;
}

const leastAgeMs = 60_000;

/** What is wrong with rules. `field`: from the list on, such as `[0].when.spiffe`. */
export function identityFaults(
  rules: readonly IdentityRule[],
  { mayReview = true }: { readonly mayReview?: boolean } = {},
): readonly { field: string; message: string }[] {
  return rules.flatMap((rule, index) => {
    const { when, node, groups, maxAgeMs = leastAgeMs } = rule;
    const { faults, names } = checkWhen(when, { mayReview });
    const found = faults.map(({ field, message }) => ({ field: field === "" ? "when" : `when.${field}`, message }));
    if (rule.deny === true) found.push(...faultsOfDenial(rule));
    else if (node === undefined)
      found.push({
        field: "node",
        message: "expected the nodes that the caller may be ({}: every node), or deny: true",
      });
    for (const field of ["id", "cluster"] as const) {
      const pattern = node?.[field];
      const fault = pattern === undefined ? undefined : nodePatternFault(pattern, names);
      if (fault !== undefined) found.push({ field: `node.${field}`, message: fault });
    }
    if (!(maxAgeMs >= leastAgeMs)) found.push({ field: "max_age", message: "it is a minute at least" });
    if (groups?.length === 0) found.push({ field: "groups", message: "name a group, or leave it out" });
    return found.map(({ field, message }) => ({ field: `[${index}].${field}`, message }));
  });
}

function faultsOfDenial({ node, groups, secrets, maxAgeMs }: IdentityRule): { field: string; message: string }[] {
  const given = Object.entries({ node, groups, secrets, max_age: maxAgeMs }).filter(([, value]) => value !== undefined);
  return given.map(([field]) => ({ field, message: "a rule with deny: true lets nobody in: leave this out" }));
}
