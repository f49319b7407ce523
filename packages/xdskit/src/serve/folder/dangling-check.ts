import { isDeepStrictEqual } from "node:util";
import {
  type Finding,
  fieldPlaces,
  getOrInsert,
  maxBytesForPlaces,
  maxFindings,
  missingNameFinding,
  type Reference,
  type Registry,
  type Resource,
  type ResourceTypes,
  type Where,
} from "@xdskit/api";
import type { DanglingChange, FollowedNames } from "@xdskit/protocol";

export interface DanglingOptions {
  /** The groups' names. */
  readonly groups: readonly string[];
  /** The server's index of a group; undefined while nothing is known. */
  readonly namesOf: (group: string) => FollowedNames | undefined;
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

/** Follows the names in served resources that do not exist. */
export interface DanglingCheck {
  /** Checks the changes since the last call; returns a warning for each name that is newly missing. */
  update(): readonly Finding[];
  /** A warning for each name that is missing now. */
  findings(): readonly Finding[];
}

/** Where the field of a resource is that names what is missing. */
type FieldFinder = (group: string, referrer: Resource, missing: MissingName) => Where | undefined;

/** The cost of an update follows the change, the cost of findings is bounded. */
export function createDanglingCheck(options: DanglingOptions): DanglingCheck {
  const { groups, namesOf, whereIs, types, registry, except } = options;
  const names = new Map<string, { readonly index: FollowedNames; readonly changes: () => DanglingChange }>();
  const missing = new Map<string, MissingName>();

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
  function createPlaces(): FieldFinder {
    const places = fieldPlaces({ registry, types, maxBytes: maxBytesForPlaces });
    return (group, referrer, missing) => {
      const there = whereIs(group, referrer);
      const { place } = missing;
      if (place?.referrer === referrer && isDeepStrictEqual(place.there, there)) return place.field;
      const field = places.named(referrer, missing.reference, there);
      missing.place = { referrer, there, field };
      return field;
    };
  }

  function findingOf(found: MissingName, placeOf: FieldFinder): Finding {
    const { reference } = found;
    const lacking = [...found.lacking];
    const [first = ""] = lacking;
    const [referrer, ...others] = names.get(first)?.index.referrers(reference) ?? [];
    const also = others.length === 0 ? "" : `, as ${others.length} other${others.length === 1 ? " does" : "s do"}`;
    const finding = missingNameFinding(reference, types, lacking, referrer, lacking.length === groups.length);
    const message = `${finding.message}${also}`;
    return { ...finding, message, ...(referrer && placeOf(first, referrer, found)) };
  }

  return {
    update() {
      const news = new Set<string>();
      const left = new Set<string>();
      const leaves = (group: string, key: string) => {
        if (missing.get(key)?.lacking.delete(group)) left.add(key);
      };
      for (const group of groups) {
        const index = namesOf(group);
        if (index === undefined) continue;
        // With other layers, a group has another index.
        let followed = names.get(group);
        if (followed?.index !== index) {
          for (const key of missing.keys()) leaves(group, key);
          followed = { index, changes: index.follow() };
          names.set(group, followed);
        }
        const { appeared, gone } = followed.changes();
        for (const reference of gone) leaves(group, danglingKey(reference));
        for (const reference of appeared) {
          const key = danglingKey(reference);
          if (!missing.has(key)) news.add(key);
          getOrInsert(missing, key, () => ({ reference, lacking: new Set<string>() })).lacking.add(group);
        }
      }
      for (const key of left) if (missing.get(key)?.lacking.size === 0) missing.delete(key);
      return findingsOf(news, news.size);
    },
    findings: () => findingsOf(missing.keys(), missing.size),
  };
}

function furtherNames(count: number): Finding {
  const message = `${count} further names are not there; xdskit validate shows them`;
  return { code: "XDSKIT_DANGLING_REFERENCE", severity: "warning", message };
}

function danglingKey({ type, name }: Reference): string {
  return `${type} ${name}`;
}
