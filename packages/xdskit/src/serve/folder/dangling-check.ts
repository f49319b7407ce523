import { isDeepStrictEqual } from "node:util";
import {
  type Finding,
  fieldPlaces,
  maxBytesForPlaces,
  maxFindings,
  missingNameText,
  type Reference,
  type Registry,
  type Resource,
  type ResourceTypes,
  type Where,
} from "@xdskit/api";
import { createDanglingNames, type DanglingChange, type FollowedNames, type Snapshot } from "@xdskit/protocol";

export interface DanglingOptions {
  /** The groups' names. */
  readonly groups: readonly string[];
  /** The served resources of a group; undefined while nothing is known. */
  readonly snapshotOf: (group: string) => Snapshot | undefined;
  /** The server's own index of a group, where it has one: another would cost as much again. */
  readonly namesOf?: (group: string) => FollowedNames | undefined;
  /** Where a resource of a group is. */
  readonly whereIs: (group: string, resource: Resource) => Where | undefined;
  readonly types: ResourceTypes;
  readonly registry: Registry;
  /** Names that clients have from elsewhere now. */
  readonly except: () => ReadonlySet<string>;
}

/** A name that is missing. */
interface MissingName {
  readonly reference: Reference;
  /** The groups that lack it. */
  readonly lacking: Set<string>;
  /** Where the field of a resource is that names it, while the resource is there. */
  place?: { readonly referrer: Resource; readonly there: Where | undefined; readonly field: Where | undefined };
}

const none: ReadonlySet<string> = new Set();

/** Follows the names in served resources that do not exist. */
export type DanglingCheck = ReturnType<typeof createDanglingCheck>;

/** The cost of an update follows the change, the cost of findings is bounded. */
export function createDanglingCheck(options: DanglingOptions) {
  const { groups, snapshotOf, namesOf, whereIs, types, registry, except } = options;
  const names = new Map<string, GroupNames>();
  const missing = new Map<string, MissingName>();

  /** The index of a group by now, and what was told by another one before. */
  function followed(group: string): { readonly ofGroup: GroupNames; readonly reported: ReadonlySet<string> } {
    const before = names.get(group);
    const shared = namesOf?.(group);
    if (before !== undefined && before.shared === shared) return { ofGroup: before, reported: none };
    const reported = new Set<string>();
    for (const [key, { lacking }] of missing) {
      if (!lacking.delete(group)) continue;
      reported.add(key);
      if (lacking.size === 0) missing.delete(key);
    }
    const ofGroup = following(shared);
    names.set(group, ofGroup);
    return { ofGroup, reported };
  }

  function findingsOf(keys: Iterable<string>, count: number): readonly Finding[] {
    const findings: Finding[] = [];
    const placeOf = createPlaces();
    const excepted = except();
    for (const key of keys) {
      const found = missing.get(key);
      if (found === undefined || excepted.has(found.reference.name)) continue;
      if (findings.length === maxFindings) return [...findings, furtherNames(count - maxFindings)];
      findings.push(findingOf(found, placeOf));
    }
    return findings;
  }

  /** Finds the lines of fields. Files are read again for that: for what is asked for at once, not much. */
  function createPlaces() {
    const places = fieldPlaces({ registry, types, maxBytes: maxBytesForPlaces });
    return (group: string, referrer: Resource, missing: MissingName): Where | undefined => {
      const there = whereIs(group, referrer);
      const { place } = missing;
      if (place?.referrer === referrer && isDeepStrictEqual(place.there, there)) return place.field;
      const field = places.named(referrer, missing.reference, there);
      missing.place = { referrer, there, field };
      return field;
    };
  }

  function findingOf(found: MissingName, placeOf: ReturnType<typeof createPlaces>): Finding {
    const { reference } = found;
    const lacking = [...found.lacking];
    const [first = ""] = lacking;
    const [referrer, ...others] = names.get(first)?.names.referrers(reference) ?? [];
    const also = others.length === 0 ? "" : `, as ${others.length} other${others.length === 1 ? " does" : "s do"}`;
    return {
      code: "XDSKIT_DANGLING_REFERENCE",
      severity: "warning",
      message: `${missingNameText(reference, types, lacking, lacking.length === groups.length)}${also}`,
      ...(referrer && placeOf(first, referrer, found)),
      type: referrer?.type.name,
      resource: referrer?.name,
    };
  }

  return {
    /** Checks the changes since the last call; returns a warning for each name that is newly missing. */
    update(): readonly Finding[] {
      const news = new Set<string>();
      for (const group of groups) {
        const snapshot = snapshotOf(group);
        if (snapshot === undefined) continue;
        const { ofGroup, reported } = followed(group);
        const { appeared, gone } = ofGroup.changes(snapshot);
        for (const reference of gone) {
          const key = danglingKey(reference);
          const lacking = missing.get(key)?.lacking;
          if (lacking?.delete(group) && lacking.size === 0) missing.delete(key);
        }
        for (const reference of appeared) {
          const key = danglingKey(reference);
          const known = missing.get(key);
          if (known === undefined && !reported.has(key)) news.add(key);
          if (known === undefined) missing.set(key, { reference, lacking: new Set([group]) });
          else known.lacking.add(group);
        }
      }
      return findingsOf(news, news.size);
    },
    /** A warning for each name that is missing now. */
    findings: (): readonly Finding[] => findingsOf(missing.keys(), missing.size),
  };
}

interface GroupNames {
  /** The server's own index; undefined: this one has its own. */
  readonly shared: FollowedNames | undefined;
  readonly names: FollowedNames;
  readonly changes: (next: Snapshot) => DanglingChange;
}

/** The references in a group, by the server's own index if it has one. `changes`: those since the last call. */
function following(shared: FollowedNames | undefined): GroupNames {
  if (shared !== undefined) return { shared, names: shared, changes: shared.follow() };
  const names = createDanglingNames();
  return { shared, names, changes: names.update };
}

function furtherNames(count: number): Finding {
  const message = `${count} further names are not there; xdskit validate shows them`;
  return { code: "XDSKIT_DANGLING_REFERENCE", severity: "warning", message };
}

function danglingKey({ type, name }: Reference): string {
  return `${type} ${name}`;
}
