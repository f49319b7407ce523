import type { Resource, ResourceTypes, TypeUrl } from "@xdskit/api";
import {
  changeBetween,
  emptyResourceSet,
  NameSet,
  type Rejection,
  type ResourceSet,
  ResourceSets,
  type Snapshot,
  type TypeStatus,
} from "@xdskit/protocol";
import { createUnpacking, type PackedResource, type Packing, typeFrom } from "./packed-resources.js";
import { packValue, unpackValue } from "./packed-values.js";

/** A set, as what it has differently from the newest of its group: a key and what there is, or nothing. */
export type PackedSet = readonly (readonly [key: string, resource: PackedResource | undefined])[];

/** What a client said against a response. */
export interface PackedRejection extends Omit<Rejection, "before" | "after" | "carried"> {
  readonly before: PackedSet | undefined;
  readonly after: PackedSet;
  readonly carried: readonly PackedResource[];
}

/** What is known of one type on one stream. Moments are those of the worker's clock. */
export interface PackedStatus {
  readonly type: TypeUrl;
  readonly api: TypeStatus["api"];
  readonly wildcard: boolean;
  readonly names: readonly string[];
  readonly parameters: string | undefined;
  readonly wanted: PackedSet | undefined;
  readonly meanwhile: PackedSet | undefined;
  readonly sent: { readonly version: string; readonly at: number; readonly set: PackedSet } | undefined;
  readonly acknowledged:
    | {
        readonly version: string;
        readonly at: number | undefined;
        readonly set: PackedSet;
        /** Undefined: all of its names. */
        readonly names: readonly string[] | undefined;
      }
    | undefined;
  readonly rejected: PackedRejection | undefined;
  readonly outstanding: number;
  readonly onTheirWay: readonly PackedSet[] | undefined;
  readonly waits: unknown;
  readonly untoldTtls: number;
}

/** Costs what a client lacks of the newest, and the names that it asks for: equal lists in one message travel once. */
export function createStatusPacking(packing: Packing) {
  const namesOf = new WeakMap<NameSet, readonly string[]>();
  const noDifference: PackedSet = [];
  function packSet(set: ResourceSet, newest: ResourceSet): PackedSet {
    if (set === newest) return noDifference;
    const { differences } = changeBetween(newest, set);
    return Array.from(differences.values(), ({ key, after }) => [key, after && packing.pack(after)] as const);
  }
  function packNames(names: NameSet): readonly string[] {
    const known = namesOf.get(names) ?? [...names];
    namesOf.set(names, known);
    return known;
  }
  function packRejection(rejection: Rejection, newest: ResourceSet): PackedRejection {
    const { before, after, carried } = rejection;
    return {
      ...rejection,
      before: before && packSet(before, newest),
      after: packSet(after, newest),
      carried: carried.map(packing.pack),
    };
  }
  return {
    /** `newest`: what the client's group is to have. */
    rejection: (rejection: Rejection, type: TypeStatus["type"], newest: Snapshot | undefined) =>
      packRejection(rejection, newest?.of(type) ?? emptyResourceSet(type)),
    status(status: readonly TypeStatus[], newest: Snapshot | undefined): readonly PackedStatus[] {
      return status.map((each): PackedStatus => {
        const { type, subscription, wanted, meanwhile, sent, acknowledged, rejected, onTheirWay } = each;
        const base = newest?.of(type) ?? emptyResourceSet(type);
        return {
          type: type.typeUrl,
          api: each.api,
          outstanding: each.outstanding,
          waits: packValue(each.waits),
          untoldTtls: each.untoldTtls,
          wildcard: subscription.wildcard,
          parameters: subscription.parameters,
          names: packNames(subscription.names),
          wanted: wanted && packSet(wanted, base),
          meanwhile: meanwhile && packSet(meanwhile, base),
          sent: sent && { ...sent, set: packSet(sent.set, base) },
          acknowledged: acknowledged && {
            version: acknowledged.version,
            at: acknowledged.at,
            set: packSet(acknowledged.set, base),
            names: acknowledged.names === subscription.names ? undefined : packNames(acknowledged.names),
          },
          rejected: rejected && packRejection(rejected, base),
          onTheirWay: onTheirWay?.map((set) => packSet(set, base)),
        };
      });
    },
  };
}

/** Sets that are the same become the same object again, for as long as the newest of the group lives. */
export function createStatusUnpacking(types: ResourceTypes) {
  const made = new WeakMap<ResourceSet, Map<string, ResourceSet>>();
  const unpack = createUnpacking(types);
  const namesOf = new WeakMap<readonly string[], NameSet>();
  /** Lists of what was carried are compared by identity. */
  let carriedLists = new Map<string, readonly Resource[]>();

  function resourceOf(packed: PackedResource, newest: ResourceSet): Resource {
    const known = newest.get(packed.key);
    return known?.version === packed.version ? known : unpack(packed);
  }
  function unpackSet(set: PackedSet, newest: ResourceSet): ResourceSet {
    if (set.length === 0) return newest;
    const key = set.map(([name, resource]) => `${name} ${resource?.version}`).join("\n");
    const known = made.get(newest) ?? new Map<string, ResourceSet>();
    made.set(newest, known);
    let found = known.get(key);
    if (found === undefined) {
      found = ResourceSets.branch(newest, new Map(set.map(([name, each]) => [name, each && unpack(each)])));
      if (known.size >= mostSets) known.clear();
      known.set(key, found);
    }
    return found;
  }
  function unpackRejection(packed: PackedRejection, newest: ResourceSet, toOwn: (at: number) => number): Rejection {
    const { before, after } = packed;
    const key = packed.carried.map(({ key, version }) => `${key} ${version}`).join("\n");
    const carried = carriedLists.get(key) ?? packed.carried.map((each) => resourceOf(each, newest));
    if (carriedLists.size >= mostCarried) carriedLists = new Map();
    carriedLists.set(key, carried);
    return {
      ...packed,
      at: toOwn(packed.at),
      before: before && unpackSet(before, newest),
      after: unpackSet(after, newest),
      carried,
    };
  }
  const baseOf = (type: TypeUrl, newest: Snapshot | undefined) => {
    const found = typeFrom(types, type);
    return newest?.of(found) ?? emptyResourceSet(found);
  };
  return {
    /** `toOwn`: from moments of the worker's clock to those of this thread's. */
    rejection: (packed: PackedRejection, type: TypeUrl, newest: Snapshot | undefined, toOwn: (at: number) => number) =>
      unpackRejection(packed, baseOf(type, newest), toOwn),
    status(
      status: readonly PackedStatus[],
      newest: Snapshot | undefined,
      toOwn: (at: number) => number,
    ): readonly TypeStatus[] {
      return status.map((each): TypeStatus => {
        const { wildcard, parameters, wanted, meanwhile, sent, acknowledged, rejected, onTheirWay } = each;
        const base = baseOf(each.type, newest);
        const names = namesOf.get(each.names) ?? NameSet.of(each.names);
        namesOf.set(each.names, names);
        const at = acknowledged?.at;
        return {
          type: typeFrom(types, each.type),
          api: each.api,
          outstanding: each.outstanding,
          waits: unpackValue(each.waits, types) as TypeStatus["waits"],
          untoldTtls: each.untoldTtls,
          subscription: { wildcard, names, parameters },
          wanted: wanted && unpackSet(wanted, base),
          meanwhile: meanwhile && unpackSet(meanwhile, base),
          sent: sent && { version: sent.version, at: toOwn(sent.at), set: unpackSet(sent.set, base) },
          acknowledged: acknowledged && {
            version: acknowledged.version,
            at: at === undefined ? undefined : toOwn(at),
            set: unpackSet(acknowledged.set, base),
            names: acknowledged.names === undefined ? names : NameSet.of(acknowledged.names),
          },
          rejected: rejected && unpackRejection(rejected, base, toOwn),
          onTheirWay: onTheirWay?.map((set) => unpackSet(set, base)),
        };
      });
    },
  };
}

/** How many different sets are remembered that differ from one newest. */
const mostSets = 256;
const mostCarried = 64;
