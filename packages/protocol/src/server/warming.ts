import type { Resource, TypeUrl } from "@xdskit/api";
import { NameSet } from "../name-set.js";
import type { ResourceSet } from "../resource-set.js";
import type { Subscription } from "../subscription.js";
import type { Content } from "./content.js";

interface Referred {
  readonly names: NameSet;
  readonly openings: NameSet;
  /** The last question and its answer: streams that share a subscription ask the same. */
  last: { readonly subscribed: NameSet; readonly names: NameSet } | undefined;
}

const known = new WeakMap<Content | ResourceSet, Map<TypeUrl, Referred>>();

/**
 * Where virtual hosts are asked for one by one, a listener warms until a response says something below `<route configuration>/`, which nobody
 * asks for by name: that nothing is known under just that name will do (Envoy on the wire, 7).
 */
export function openingsReferredTo(content: Content, type: TypeUrl): NameSet {
  return referredTo(content, content.fresh, type).openings;
}

/** The same of all that a set holds: where the client has it from elsewhere, on another stream, and which part of it is not known. */
export function openingsOfAll(set: ResourceSet, type: TypeUrl): NameSet {
  return referredTo(set, set, type).openings;
}

/** Those of the names referred to that a client is subscribed to. */
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
 * The names of a type that resources sent so far refer to, while a client has not asked for that type. It may never do so: it takes load assignments from
 * elsewhere, say. So what is kept follows what there is, not what there ever was, and adding costs what was sent.
 */
export class WarmingNames {
  readonly #type: TypeUrl;
  #parts: NameSet[] = [];
  #count = 0;

  constructor(type: TypeUrl) {
    this.#type = type;
  }

  /** Takes what a response refers to that brought the client to `current`. */
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

const fewNames = 1000;

function referredTo(from: Content | ResourceSet, resources: Iterable<Resource>, type: TypeUrl): Referred {
  let byType = known.get(from);
  if (byType === undefined) {
    byType = new Map();
    known.set(from, byType);
  }
  let referred = byType.get(type);
  if (referred === undefined) {
    const names = new Set<string>();
    for (const { references } of resources) {
      for (const reference of references) if (reference.type === type) names.add(reference.name);
    }
    const openings = [...names].filter((name) => name.endsWith("/*")).map((name) => name.slice(0, -1));
    referred = { names: NameSet.of(names), openings: NameSet.of(openings), last: undefined };
    byType.set(type, referred);
  }
  return referred;
}
