import {
  canonicalName,
  getOrInsert,
  isApiListener,
  maxFindings,
  maxNamesKept,
  type Resource,
  type ResourceName,
  type ResourceType,
  type TypeUrl,
  type Version,
} from "@xdskit/api";
import {
  clientKindOf,
  covers,
  emptyResourceSet,
  type ResourceSet,
  type Subscription,
  type TypeStatus,
} from "@xdskit/protocol";
import { dropOldest } from "../../basics/maps.js";
import type { LayerChange } from "../../contracts/layer-change.js";
import type { OpenStream } from "../../contracts/nodes/reported-stream.js";
import { maxRevisions } from "../../stores/history/following.js";

/** The changes of one type in a layer: by key the new resource, undefined for a removed one. */
export interface ChangedKeys {
  readonly resources: ReadonlyMap<ResourceName, Resource | undefined>;
  /** Some resources have aliases, so names alone do not tell which clients the change concerns. */
  readonly hasAliases: boolean;
}

/** How far a client has a change of one type. */
export interface TypeStanding {
  /** Whether it asks for a changed resource. */
  readonly concerned: boolean;
  /** Changed keys whose older content the client uses: at most 100. */
  readonly lacking: readonly ResourceName[];
}

/** The changes of a layer, by type URL. */
export function changedKeys({ upserted, removed }: LayerChange): ReadonlyMap<TypeUrl, ChangedKeys> {
  const byType = new Map<TypeUrl, { resources: Map<ResourceName, Resource | undefined>; hasAliases: boolean }>();
  const of = ({ typeUrl }: ResourceType) =>
    getOrInsert(byType, typeUrl, () => ({ resources: new Map(), hasAliases: false }));
  for (const { type, name } of removed) {
    const keys = of(type);
    keys.resources.set(name, undefined);
    // The removed resource may have had some.
    keys.hasAliases = true;
  }
  for (const resource of upserted) {
    const keys = of(resource.type);
    keys.resources.set(resource.key, resource);
    keys.hasAliases ||= resource.aliases.length > 0 || resource.variant !== undefined;
  }
  return byType;
}

/** Contents published after a change, by key: a client that uses one of them has the change. */
type LaterVersions = Map<ResourceName, Set<Version | undefined>>;

/**
 * Compares the contents that clients use with those of a change, once for all clients with equal subscriptions and
 * contents. It remembers the results only while a caller looks at the change.
 */
export class StandingsOfChange {
  readonly #changed: ReadonlyMap<TypeUrl, ChangedKeys>;
  readonly #known = new Map<string, TypeStanding>();
  readonly #later = new Map<TypeUrl, LaterVersions>();

  constructor(changed: ReadonlyMap<TypeUrl, ChangedKeys>) {
    this.#changed = changed;
  }

  /** `isNewest`: nothing was published since, so any difference in the group's snapshot comes from another layer. */
  of(status: TypeStatus, { newest, opened }: Pick<OpenStream, "newest" | "opened">, isNewest: boolean): TypeStanding {
    const { type, subscription, acknowledged, inFlightSets } = status;
    const changed = this.#changed.get(type.typeUrl);
    if (changed === undefined) return unconcerned;
    const used = acknowledged?.set ?? emptyResourceSet(type);
    const wanted = newest?.of(type) ?? emptyResourceSet(type);
    const { wildcard, names, parameters = "" } = subscription;
    const way = inFlightSets?.map(({ version }) => version).join();
    const isEnvoy = clientKindOf(opened.node) === "envoy";
    const key = `${type.typeUrl} ${isEnvoy} ${used.version} ${way} ${wanted.version} ${wildcard} ${isNewest} ${names.id} ${parameters}`;
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const later = this.#later.get(type.typeUrl);
    const standing = typeStandingOf(changed, subscription, { used, inFlightSets, wanted }, isEnvoy, isNewest, later);
    if (this.#known.size >= maxNamesKept) this.#known.clear();
    this.#known.set(key, standing);
    return standing;
  }

  /** A newer content was published: a client that takes it has this change. */
  superseded(changes: readonly LayerChange[]): void {
    const note = (typeUrl: TypeUrl, key: ResourceName, version: Version | undefined) => {
      if (this.#changed.get(typeUrl)?.resources.has(key) !== true) return;
      const ofType = getOrInsert(this.#later, typeUrl, () => new Map());
      dropOldest(getOrInsert(ofType, key, () => new Set()).add(version), maxRevisions);
    };
    for (const { upserted, removed } of changes) {
      for (const { type, key, version } of upserted) note(type.typeUrl, key, version);
      for (const { type, name } of removed) note(type.typeUrl, name, undefined);
    }
    this.#known.clear();
  }
}

const unconcerned: TypeStanding = { concerned: false, lacking: [] };

interface Sets {
  readonly used: ResourceSet;
  readonly inFlightSets: readonly ResourceSet[] | undefined;
  readonly wanted: ResourceSet;
}

function typeStandingOf(
  changed: ChangedKeys,
  subscription: Subscription,
  { used, inFlightSets, wanted }: Sets,
  isEnvoy: boolean,
  isNewest: boolean,
  later: LaterVersions | undefined,
): TypeStanding {
  /** A removed resource may still reach a client in a response that was sent before. */
  const mayNotCome = (key: ResourceName, isNewEnough: (resource: Resource | undefined) => boolean) =>
    inFlightSets?.every((set) => isNewEnough(set.get(key))) === true;
  let concerned = false;
  const lacking: ResourceName[] = [];
  for (const key of candidates(changed, subscription)) {
    const upserted = changed.resources.get(key);
    // An Envoy is not told of it, so for an Envoy it removes what had its name.
    const isRemoval = isEnvoy && upserted !== undefined && isApiListener(upserted);
    const after = isRemoval ? undefined : upserted;
    const want = wanted.get(key);
    const have = used.get(key);
    // When a resource is removed, one of a lower layer may appear, which is then the clients' target.
    if (isNewest && upserted !== undefined && want?.version !== after?.version) continue;
    if (isRemoval && have === undefined && mayNotCome(key, (resource) => resource === undefined)) continue;
    if (!asksFor(subscription, key, [after, want, have])) continue;
    concerned = true;
    const isNewEnough = (resource: Resource | undefined) =>
      resource?.version === want?.version ||
      resource?.version === after?.version ||
      later?.get(key)?.has(resource?.version) === true;
    if (isNewEnough(have) && (have !== undefined || mayNotCome(key, isNewEnough))) continue;
    lacking.push(key);
    if (lacking.length === maxFindings) break;
  }
  return { concerned, lacking };
}

/** The keys that changed and that a client may ask for. */
function* candidates(
  { resources, hasAliases }: ChangedKeys,
  { wildcard, names }: Subscription,
): Iterable<ResourceName> {
  const isNamedOtherwise = hasAliases || names.hasCollections || names.hasLocators || names.hasCapitals;
  if (wildcard || isNamedOtherwise || names.size >= resources.size) {
    yield* resources.keys();
    return;
  }
  for (const name of names) if (resources.has(name)) yield name;
}

function asksFor(subscription: Subscription, key: ResourceName, resources: readonly (Resource | undefined)[]): boolean {
  const { wildcard, names } = subscription;
  if (wildcard || names.has(key)) return true;
  return resources.some((resource) => {
    if (resource === undefined) return false;
    if (covers(subscription, resource)) return true;
    for (const _ of names.spelled(canonicalName(resource.name))) return true;
    return false;
  });
}
