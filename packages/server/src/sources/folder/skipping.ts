import { canonicalName, type Finding, maxFindings, type PositionedResource, type ResourceTypes } from "@xdskit/api";
import { idOf } from "../../basics/id-of.js";
import type { TypeAndKey } from "./kept-names.js";

/** The part of a file with errors that can be served. */
export interface UsablePart {
  readonly resources: readonly PositionedResource[];
  /** Other names that the file holds, or may hold: their applied content stays. */
  readonly kept: readonly TypeAndKey[];
}

/**
 * Takes the valid part of a file with errors. A resource that an error names keeps its last good content. If an error
 * does not name its resource, the intended content of the file is not known: then everything that it had before stays.
 *
 * @param before the names that the file had or kept at its last reading
 */
export function usablePart(
  { resources, findings }: { readonly resources: readonly PositionedResource[]; readonly findings: readonly Finding[] },
  before: readonly TypeAndKey[],
  types: ResourceTypes,
): UsablePart {
  const errors = findings.filter(({ severity }) => severity === "error");
  // The rest of such a file may be parsed wrongly.
  const isReadable = !errors.some(({ code, type }) => code === "XDSKIT_SYNTAX" && type === undefined);
  const usable = isReadable ? resources : [];
  const isWell = new Set(usable.map(({ resource }) => idOf(resource)));
  const named = errors.map((finding) => namedBy(finding, types));
  const allNamed = findings.length < maxFindings && !named.includes(undefined);
  // A variant of a name has its own key.
  const kept = allNamed
    ? before.filter((each) => named.some((other) => other !== undefined && isOf(each, other)))
    : before;
  const all = new Map([...kept, ...named].flatMap((each) => (each === undefined ? [] : [[idOf(each), each] as const])));
  for (const key of isWell) all.delete(key);
  return { resources: usable, kept: [...all.values()] };
}

/** The resource that an error is about; undefined if it names none. */
export function namedBy({ type, resource }: Finding, types: ResourceTypes): TypeAndKey | undefined {
  const known = type === undefined || resource === undefined ? undefined : types.find(type);
  return known === undefined || resource === undefined ? undefined : { type: known, key: canonicalName(resource) };
}

function isOf(each: TypeAndKey, { type, key }: TypeAndKey): boolean {
  return each.type.typeUrl === type.typeUrl && (each.key === key || each.key.startsWith(`${key}${variantMark}`));
}

/** Separates a name and its variant in a key. */
const variantMark = "\ud800\ud800";

/** The content that is served in place of a resource with an error. */
export type SkippedStanding = "lastGood" | "absent" | "elsewhere";

/** Adds the effect to a finding. */
export function withStanding(finding: Finding, standing: SkippedStanding): Finding {
  return { ...finding, message: `${finding.message}${consequences[standing]}` };
}

const consequences: Readonly<Record<SkippedStanding, string>> = {
  lastGood: "; skipped: the last good content stays",
  absent: "; skipped: it is not served",
  elsewhere: "; skipped: the other one of that name is served",
};
