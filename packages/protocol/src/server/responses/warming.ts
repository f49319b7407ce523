import type { Resource, TypeUrl } from "@xdskit/api";
import { PerKey } from "../../model/basics/memo.js";
import { NameSet } from "../../model/names/name-set.js";
import type { ResourceSet } from "../../model/sets/resource-set.js";
import type { Subscription } from "../../model/subscribed/subscription.js";
import type { Content } from "./content.js";

/*
 * A new or changed cluster warms: a client cannot use it until it gets the load assignment after it. So the load
 * assignment is sent again even if it is unchanged (rules 121, 122). This file works out, once for all streams, which
 * names a response refers to, and which of them a client is subscribed to. `stream-warming.ts` sends them.
 */

/** The names of one type that resources refer to. */
interface Referred {
  readonly names: NameSet;
  /** For names of collections (`<route configuration>/*`), the part before the `*`. */
  readonly openings: NameSet;
  /** The last subscription that was compared with `names`, and the common names: streams often share a subscription. */
  last: { readonly subscribed: NameSet; readonly names: NameSet } | undefined;
}

const known = new PerKey<Content | ResourceSet, Referred>();

/**
 * The names `<route configuration>/` of the route configurations in a response whose virtual hosts come by VHDS. A
 * listener warms until a response has something for that name, though Envoy does not ask for it. It is enough to say
 * that nothing exists there (Envoy on the wire, 7).
 */
export function openingsReferredTo(content: Content, type: TypeUrl): NameSet {
  return referredTo(content, content.fresh, type).openings;
}

/**
 * The openings of a whole set. For a client that gets route configurations on another stream: this stream does not know
 * which.
 */
export function openingsOfAll(set: ResourceSet, type: TypeUrl): NameSet {
  return referredTo(set, set, type).openings;
}

/** The names of a type that a client is subscribed to, and that the new or changed resources of a response refer to. */
export function namesToWarm(content: Content, type: TypeUrl, subscription: Subscription): NameSet {
  const { wildcard, names, parameters = "" } = subscription;
  const referred = referredTo(content, content.fresh, type);
  if (wildcard) {
    if (parameters === "" && !names.hasLocators) return referred.names;
    return NameSet.of([...referred.names].flatMap((name) => [`${name}${parameters}`, ...names.spelled(name)]));
  }
  if (referred.last?.subscribed !== names) {
    const [few, many] = names.size < referred.names.size ? [names, referred.names] : [referred.names, names];
    const warmed = names.hasLocators
      ? [...referred.names].flatMap((name) => [...names.spelled(name)])
      : [...few].filter((name) => many.has(name));
    referred.last = { subscribed: names, names: NameSet.of(warmed) };
  }
  return referred.last.names;
}

/**
 * The names of a type that the resources sent so far refer to, until a client asks for the type. It may never ask: its
 * load assignments may come from elsewhere. So when there are too many, names that no resource refers to any more are
 * dropped. An addition costs the size of the response.
 */
export class WarmingNames {
  readonly #type: TypeUrl;
  #parts: NameSet[] = [];
  #count = 0;

  constructor(type: TypeUrl) {
    this.#type = type;
  }

  /** Adds the names that a response for the set `current` refers to. */
  add(content: Content, current: ResourceSet, kind: "names" | "openings"): void {
    const names = referredTo(content, content.fresh, this.#type)[kind];
    if (names.size === 0) return;
    this.#parts.push(names);
    this.#count += names.size;
    if (this.#count <= 2 * current.size + fewNames) return;
    const still = referredTo(current, current, this.#type)[kind];
    const left = NameSet.of([...this.names].filter((name) => still.has(name)));
    this.#parts = [left];
    this.#count = left.size;
  }

  get isEmpty(): boolean {
    return this.#count === 0;
  }

  get names(): NameSet {
    const [first = NameSet.empty, ...more] = this.#parts;
    return more.length === 0 ? first : NameSet.of(this.#parts.flatMap((part) => [...part]));
  }
}

/** The number of names that are kept before a check which of them resources still name. */
const fewNames = 1000;

function referredTo(from: Content | ResourceSet, resources: Iterable<Resource>, type: TypeUrl): Referred {
  const referred = known.get(from, type);
  if (referred !== undefined) return referred;
  const names = new Set<string>();
  for (const { references } of resources) {
    for (const reference of references) if (reference.type === type) names.add(reference.name);
  }
  const openings = [...names].filter((name) => name.endsWith("/*")).map((name) => name.slice(0, -1));
  return known.set(from, type, { names: NameSet.of(names), openings: NameSet.of(openings), last: undefined });
}
