import { canonicalName, type ResourceName } from "@xdskit/api";
import { maxAliases } from "../../model/basics/limits.js";
import type { SentResponse } from "../../wire/responses/read-response.js";
import type { WantedNames } from "../asked/wanted-names.js";
import type { NamedResource } from "./named-resource.js";

/** The resources of a response, and the names that they answer. */
interface Answering {
  readonly resources: readonly NamedResource[];
  /** Why they have no such names: there are too many. */
  readonly problem: string | undefined;
}

/**
 * Names for the resources of a response to a URL that is no message's (`anyContent` of a type). The server alone
 * decides how it answers such a name: Istio's debug endpoints send the dump of a proxy that is asked for by its id, in
 * parts without names. So the client ignores no resource as unrequested: one with another name than the requested ones
 * gets these as aliases. All share one list of aliases.
 */
export function answering(resources: readonly NamedResource[], wanted: WantedNames): Answering {
  const asIs = { resources, problem: undefined };
  if (wanted.isWildcard) return asIs;
  const others = resources.reduce((count, { key }) => (wanted.has(key) ? count : count + 1), 0);
  if (others === 0) return asIs;
  const answered = new Set(resources.map(({ key }) => key));
  const open = [...wanted.keys()].filter((key) => !answered.has(key)).map((key) => wanted.spelled(key));
  if (open.length === 0) return asIs;
  if (others > 1 && others * open.length > maxAliases) {
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

/** The name of a resource without one: the only requested name, or its place. */
export function nameByPlace(index: number, response: SentResponse, wanted: WantedNames): ResourceName {
  // Takes only the first name, since there may be many.
  const [first] = wanted.isWildcard || wanted.size > 1 ? [] : wanted.keys();
  const name = first === undefined ? "" : wanted.spelled(first);
  const isOnly = name !== "" && response.resources.length === 1;
  if (isOnly && !response.removed.some((removed) => canonicalName(removed) === first)) return name;
  return `${name}[${index}]`;
}
