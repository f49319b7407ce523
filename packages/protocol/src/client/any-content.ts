import { canonicalName, type ResourceName } from "@xdskit/api";
import type { SentResponse } from "../messages/read-response.js";
import type { NamedResource } from "./named-resource.js";
import type { WantedNames } from "./wanted-names.js";

/**
 * Names for the resources of a response to a URL that is no message's (`anyContent` of a type). What a server answers to such a name is its own affair: Istio's
 * debug endpoints send the dump of a proxy that is asked for by its id, in parts without a name. So nothing is passed over as what nobody asked for: what is
 * not called as what was asked for gets those names as aliases.
 */
export function answering(resources: readonly NamedResource[], wanted: WantedNames): readonly NamedResource[] {
  const asked = wanted.isWildcard ? [] : [...wanted.keys()];
  const answered = new Set(resources.map(({ key }) => key));
  const open = asked.filter((key) => !answered.has(key));
  return resources.map((one) => {
    const { sent } = one;
    if (open.length === 0 || asked.includes(one.key)) return one;
    return { ...one, sent: { ...sent, aliases: [...sent.aliases, ...open.map((key) => wanted.spelled(key))] } };
  });
}

/** What one is called that has no name: as the only one that was asked for, or by its place. */
export function nameByPlace(index: number, response: SentResponse, wanted: WantedNames): ResourceName {
  const [first, ...more] = wanted.isWildcard ? [] : wanted.keys();
  const name = first === undefined || more.length > 0 ? "" : wanted.spelled(first);
  const isOnly = name !== "" && response.resources.length === 1;
  if (isOnly && !response.removed.some((removed) => canonicalName(removed) === first)) return name;
  return `${name}[${index}]`;
}
