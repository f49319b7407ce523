import { getOrInsert, type Resource, type ResourceName, type ResourceType } from "@xdskit/api";
import {
  changeBetween,
  emptyResourceSet,
  type NameSet,
  type Rejection,
  type ResourceSet,
  ResourceSets,
  type TypeStatus,
} from "@xdskit/protocol";
import type { Member } from "../members/member.js";
import type { Keyed } from "../members/overrides.js";

/** A set of a type that one or several streams acknowledged. */
interface AcknowledgedContents {
  readonly set: ResourceSet;
  /** The time of the last acknowledgement. */
  at: number;
  wildcard: boolean;
  readonly names: Set<NameSet>;
  /**
   * Whether a content in it was acknowledged. If not, a client that rejected the next set may still have one of them.
   */
  proves: boolean;
}

/** The part that is read from a stream, and kept of a closed one. Each kept set grows with every publication. */
interface KnownContents extends Pick<TypeStatus, "acknowledged" | "subscription"> {
  readonly rejects: boolean;
}

function knownOf({ acknowledged, subscription, rejected }: TypeStatus): KnownContents {
  return { acknowledged, subscription, rejects: rejected !== undefined };
}

/** A rejected content, and the last one before it that no client rejected; undefined: none. */
export interface Suspect extends Keyed {
  readonly rejected: Resource;
  readonly good: Resource | undefined;
}

/** How many different sets, or lists of names, of each type are kept of streams that are gone. */
const keptOfGone = 16;
/** How many different sets are looked at: the ones that were acknowledged last. */
const lookedAt = 64;

/**
 * Knows what the streams of a group acknowledged last. Nothing is kept of open streams: they are asked when a client
 * rejects something.
 */
export class LastAcknowledged {
  readonly #gone = new Map<ResourceType, readonly KnownContents[]>();
  /** The contents of rejected responses without a named culprit: streams that were sent the same share them. */
  readonly #seen = new WeakSet<readonly Resource[]>();

  /** A stream is about to end. Its acknowledged sets may be the last ones of all streams. */
  note({ client }: Member): void {
    for (const status of client.status?.() ?? []) {
      const { type, acknowledged, subscription } = status;
      if (acknowledged === undefined || acknowledged.set.size === 0) continue;
      const others = (this.#gone.get(type) ?? []).filter(({ subscription: { wildcard, names } }) => {
        return wildcard !== subscription.wildcard || names !== subscription.names;
      });
      this.#gone.set(type, [knownOf(status), ...others].slice(0, keptOfGone));
    }
  }

  /**
   * The contents that a rejection may be about: those that the client blames; if it blames none, all that were new to
   * it. `isWhole`: the response had the client's whole target. Empty if it repeats another client's rejection.
   */
  contentsOf(type: ResourceType, rejection: Rejection, from: Member, isWhole: boolean): readonly Resource[] {
    const { blamed, carried, before, after } = rejection;
    if (blamed !== undefined) {
      const faulty = new Set(blamed);
      return carried.filter(({ name }) => faulty.has(name));
    }
    const fresh = isWhole ? changeBetween(before ?? emptyResourceSet(type), after).upserted : carried;
    const subscription = isWhole ? statusOf(from, type)?.subscription : undefined;
    if (subscription !== undefined && !subscription.wildcard)
      return fresh.filter(({ key }) => subscription.names.has(key));
    if (this.#seen.has(fresh)) return [];
    this.#seen.add(fresh);
    return fresh;
  }

  /**
   * The contents for which something better is known: another acknowledged content, or an acknowledged absence. After a
   * start of the server nothing is known, and a client that comes back would lose what it has. If the client blames
   * none, without those that another stream has acknowledged. Costs the contents, and the streams.
   */
  suspectsAmong(
    contents: readonly Resource[],
    rejection: Rejection,
    from: Member,
    members: Iterable<Member>,
  ): readonly Suspect[] {
    const [first] = contents;
    if (first === undefined) return [];
    const { type } = first;
    const acknowledged = this.#acknowledged(type, rejection, from, members);
    const suspects: Suspect[] = [];
    for (const rejected of contents) {
      let good: Resource | undefined;
      let isProven = false;
      let wasAbsent = false;
      for (const each of acknowledged) {
        if (!uses(each, rejected.key)) continue;
        const had = ResourceSets.get(each.set, rejected.key);
        if (had === undefined) wasAbsent ||= each.proves || each.set === rejection.before;
        else if (had.version !== rejected.version) good ??= had;
        else isProven ||= each.proves;
      }
      // Another client uses it, and no client blames it.
      if (rejection.blamed === undefined && isProven) continue;
      if (good !== undefined || wasAbsent) suspects.push({ type, key: rejected.key, rejected, good });
    }
    return suspects;
  }

  /**
   * The sets of a type that other streams acknowledged, the last first, then the set that the client itself had before.
   */
  #acknowledged(type: ResourceType, { before }: Rejection, from: Member, members: Iterable<Member>) {
    const bySet = new Map<ResourceSet, AcknowledgedContents>();
    const add = ({ acknowledged, subscription, rejects }: KnownContents) => {
      if (acknowledged === undefined) return;
      const { set, at = 0 } = acknowledged;
      const known = getOrInsert(bySet, set, () => ({ set, at, wildcard: false, names: new Set(), proves: false }));
      known.at = Math.max(known.at, at);
      known.wildcard ||= subscription.wildcard;
      known.names.add(acknowledged.names);
      known.proves ||= !rejects;
    };
    for (const member of members) {
      const status = member === from ? undefined : statusOf(member, type);
      if (status !== undefined) add(knownOf(status));
    }
    for (const status of this.#gone.get(type) ?? []) add(status);
    const found = [...bySet.values()].sort((a, b) => b.at - a.at).slice(0, lookedAt);
    // The client may also not have asked for it until now.
    if (before !== undefined) found.push({ set: before, at: 0, wildcard: true, names: new Set(), proves: false });
    return found;
  }
}

function uses({ wildcard, names }: AcknowledgedContents, key: ResourceName): boolean {
  if (wildcard) return true;
  for (const each of names) if (each.has(key)) return true;
  return false;
}

function statusOf({ client }: Member, type: ResourceType): TypeStatus | undefined {
  return client.status?.().find((each) => each.type === type);
}

/**
 * The contents that a client blames by name. The only new resource of a response counts as blamed though the client
 * names nothing; this says little if the response had others that it does not use either.
 */
export function namedIn(rejection: Rejection, isWhole: boolean): Rejection {
  const { blamed, carried, message } = rejection;
  const [only, ...others] = carried;
  if (!isWhole || blamed === undefined || only === undefined || others.length > 0) return rejection;
  return message.includes(only.name) ? rejection : { ...rejection, blamed: undefined };
}
