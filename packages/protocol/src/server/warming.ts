import type { TypeUrl } from "@xdskit/api";
import { NameSet } from "../name-set.js";
import type { Subscription } from "../subscription.js";
import type { Content } from "./content.js";

interface Referred {
  readonly names: NameSet;
  readonly openings: NameSet;
  /** The last question and its answer: streams that share a subscription ask the same. */
  last: { readonly subscribed: NameSet; readonly names: NameSet } | undefined;
}

const known = new WeakMap<Content, Map<TypeUrl, Referred>>();

/**
 * The names of a type that the fresh resources of a response refer to: a cluster that changed warms until its load assignment
 * comes once more, changed or not (rules 121, 122). Worked out once for all streams that get the response.
 */
export function namesReferredTo(content: Content, type: TypeUrl): NameSet {
  return referredTo(content, type).names;
}

/**
 * Where virtual hosts are asked for one by one, a listener warms until a response says something below `<route configuration>/`, which nobody
 * asks for by name: that nothing is known under just that name will do (Envoy on the wire, 7).
 */
export function openingsReferredTo(content: Content, type: TypeUrl): NameSet {
  return referredTo(content, type).openings;
}

/** Those of the names referred to that a client is subscribed to. */
export function namesToWarm(content: Content, type: TypeUrl, { wildcard, names }: Subscription): NameSet {
  const referred = referredTo(content, type);
  if (wildcard) return referred.names;
  if (referred.last?.subscribed !== names) {
    const [few, many] = names.size < referred.names.size ? [names, referred.names] : [referred.names, names];
    referred.last = { subscribed: names, names: NameSet.of([...few].filter((name) => many.has(name))) };
  }
  return referred.last.names;
}

function referredTo(content: Content, type: TypeUrl): Referred {
  let byType = known.get(content);
  if (byType === undefined) {
    byType = new Map();
    known.set(content, byType);
  }
  let referred = byType.get(type);
  if (referred === undefined) {
    const names = new Set<string>();
    for (const { references } of content.fresh) {
      for (const reference of references) if (reference.type === type) names.add(reference.name);
    }
    const openings = [...names].filter((name) => name.endsWith("/*")).map((name) => name.slice(0, -1));
    referred = { names: NameSet.of(names), openings: NameSet.of(openings), last: undefined };
    byType.set(type, referred);
  }
  return referred;
}
