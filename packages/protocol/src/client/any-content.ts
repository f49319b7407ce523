import { canonicalName, type ResourceName } from "@xdskit/api";
import type { SentResponse } from "../messages/read-response.js";
import type { NamedResource } from "./named-resource.js";
import type { WantedNames } from "./wanted-names.js";

/** More names are not given to the resources of one response: a server could fill the memory with a small one. */
const mostAliases = 1_000_000;

/** The resources of a response with the names they answer. */
export interface Answering {
  readonly resources: readonly NamedResource[];
  /** Why they have no such names, where they are too many. */
  readonly problem: string | undefined;
}

/**
 * Names for the resources of a response to a URL that is no message's (`anyContent` of a type). What a server answers
 * to such a name is its own affair: Istio's debug endpoints send the dump of a proxy that is asked for by its id, in
 * parts without a name. So nothing is passed over as what nobody asked for: what is not called as what was asked for
 * gets those names as aliases. All share one list of them.
 */
export function answering(resources: readonly NamedResource[], wanted: WantedNames): Answering {
  const asIs = { resources, problem: undefined };
  if (wanted.isWildcard) return asIs;
  const others = resources.reduce((count, { key }) => (wanted.has(key) ? count : count + 1), 0);
  if (others === 0) return asIs;
  const answered = new Set(resources.map(({ key }) => key));
  const open = [...wanted.keys()].filter((key) => !answered.has(key)).map((key) => wanted.spelled(key));
  if (open.length === 0) return asIs;
  if (others > 1 && others * open.length > mostAliases) {
    const problem = `${others} resources that are called otherwise than what was asked for, and ${open.length} names without an answer: which answers which cannot be told`;
    return { resources, problem };
  }
  const named = resources.map((one) => {
    if (wanted.has(one.key)) return one;
    const { sent } = one;
    return { ...one, sent: { ...sent, aliases: sent.aliases.length === 0 ? open : [...sent.aliases, ...open] } };
  });
  return { resources: named, problem: undefined };
}

/** What one is called that has no name: as the only one that was asked for, or by its place. */
export function nameByPlace(index: number, response: SentResponse, wanted: WantedNames): ResourceName {
  // Only the first is taken of the names, which may be many.
  const [first] = wanted.isWildcard || wanted.size > 1 ? [] : wanted.keys();
  const name = first === undefined ? "" : wanted.spelled(first);
  const isOnly = name !== "" && response.resources.length === 1;
  if (isOnly && !response.removed.some((removed) => canonicalName(removed) === first)) return name;
  return `${name}[${index}]`;
}
