import { getOrInsert, type ListeningAddress, type PositionedResource } from "@xdskit/api";
import { claimedAddresses } from "../../basics/claimed-addresses.js";
import { Counts } from "../../basics/counts.js";
import { MultiMap } from "../../basics/maps.js";
import type { LayerName } from "../../settings/group-settings.js";
import type { FolderGroup } from "./folder-options.js";

/** A listener that listens at an address. */
export interface AddressClaim {
  readonly entry: PositionedResource;
  /** Relative to the directory. */
  readonly file: string;
  readonly layer: LayerName;
  readonly address: ListeningAddress;
}

/** Listeners at one address, in the order of their files: an Envoy takes only the first that it sees. */
export interface Clash {
  readonly claims: readonly [AddressClaim, AddressClaim, ...AddressClaim[]];
  /** The groups that have them; undefined if there are no groups. */
  readonly groups: readonly string[] | undefined;
}

/**
 * The addresses of all listeners, over all layers. To read a file again costs that file's listeners. Clashes cost the
 * addresses that several listeners have, and are computed only after a listener changed.
 */
export class AddressClaims {
  readonly #groups: readonly FolderGroup[] | undefined;
  readonly #byAddress = new MultiMap<string, AddressClaim>();
  /** Addresses with more than one claim. Most of these clash. */
  readonly #crowded = new Set<string>();
  readonly #byEntry = new Map<LayerName, Map<PositionedResource, readonly AddressClaim[]>>();
  /** The number of listener entries with a name in a layer. */
  readonly #names = new Map<LayerName, Counts<string>>();
  #clashes: readonly Clash[] | undefined = [];

  /** Without groups each layer is judged by itself. */
  constructor(groups: readonly FolderGroup[] | undefined) {
    this.#groups = groups;
  }

  add(layer: LayerName, file: string, entries: readonly PositionedResource[]): void {
    for (const entry of entries) {
      if (entry.resource.type.name !== "listener") continue;
      this.#clashes = undefined;
      this.#namesIn(layer).add(entry.resource.name, 1);
      const claims = claimedAddresses(entry.resource).map((address): AddressClaim => ({ entry, file, layer, address }));
      if (claims.length === 0) continue;
      getOrInsert(this.#byEntry, layer, () => new Map()).set(entry, claims);
      for (const claim of claims) {
        const { key } = claim.address;
        this.#byAddress.add(key, claim);
        if (this.#byAddress.of(key).size > 1) this.#crowded.add(key);
      }
    }
  }

  remove(layer: LayerName, entries: readonly PositionedResource[]): void {
    for (const entry of entries) {
      if (entry.resource.type.name !== "listener") continue;
      this.#clashes = undefined;
      this.#namesIn(layer).add(entry.resource.name, -1);
      const ofLayer = this.#byEntry.get(layer);
      for (const claim of ofLayer?.get(entry) ?? []) {
        const { key } = claim.address;
        this.#byAddress.delete(key, claim);
        if (this.#byAddress.of(key).size < 2) this.#crowded.delete(key);
      }
      ofLayer?.delete(entry);
    }
  }

  /** All clashes, as of now. */
  get clashes(): readonly Clash[] {
    this.#clashes ??= this.#find();
    return this.#clashes;
  }

  #find(): readonly Clash[] {
    const found: Clash[] = [];
    for (const key of [...this.#crowded].sort()) {
      const claims = [...this.#byAddress.of(key)].sort(byPlace);
      const byMembers = new Map<string, { readonly claims: Clash["claims"]; readonly groups: string[] }>();
      for (const { name, layers } of this.#groups ??
        [...this.#names.keys()].map((layer) => ({ name: "", layers: [layer] }))) {
        const served = claims.filter((claim) => this.#isServed(claim, layers));
        const [first, second, ...more] = firstOfName(served);
        if (first === undefined || second === undefined) continue;
        const clash: Clash["claims"] = [first, second, ...more];
        const members = JSON.stringify(clash.map(({ layer, entry }) => [layer, entry.resource.name]));
        getOrInsert(byMembers, members, () => ({ claims: clash, groups: [] })).groups.push(name);
      }
      for (const { claims, groups } of byMembers.values())
        found.push({ claims, groups: this.#groups === undefined ? undefined : groups });
    }
    return found;
  }

  /** Whether a group gets a listener: it has the layer, and no later one with another listener of the same name. */
  #isServed({ layer, entry }: AddressClaim, layers: readonly LayerName[]): boolean {
    const at = layers.lastIndexOf(layer);
    if (at < 0) return false;
    return !layers.slice(at + 1).some((later) => this.#namesIn(later).of(entry.resource.name) > 0);
  }

  #namesIn(layer: LayerName): Counts<string> {
    return getOrInsert(this.#names, layer, () => new Counts());
  }
}

/** Two entries of one name in a layer are another error. */
function firstOfName(claims: readonly AddressClaim[]): readonly AddressClaim[] {
  const seen = new Set<string>();
  return claims.filter(({ entry: { resource } }) => !seen.has(resource.name) && seen.add(resource.name));
}

function byPlace(a: AddressClaim, b: AddressClaim): number {
  if (a.file !== b.file) return a.file < b.file ? -1 : 1;
  return (a.entry.where.line ?? 0) - (b.entry.where.line ?? 0);
}
