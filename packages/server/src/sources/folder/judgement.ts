import type { Finding, PositionedResource, ResourceTypes } from "@xdskit/api";
import { isOfGrpcServer, sharedAddressMessage } from "../../basics/shared-address.js";
import type { AddressClaims, Clash } from "./address-claims.js";
import { isWithin } from "./folder-options.js";
import type { SkippedCounts } from "./folder-summary.js";
import type { TypeAndKey } from "./kept-names.js";
import type { LayerIndex, LayerIndexEntry } from "./layer-index.js";
import { namedBy, type SkippedStanding, withStanding } from "./skipping.js";

/** The result of all files together. */
export interface FolderJudgement {
  /** Without the bound on their number. */
  readonly findings: readonly Finding[];
  /** Files that can be served whole, or, if errors are skipped, in part. */
  readonly valid: number;
  /** Files with errors, by themselves or beside the others. */
  readonly bad: ReadonlySet<string>;
  /** The skipped resources; undefined if a change is applied whole or not at all. */
  readonly skipped: SkippedCounts | undefined;
}

/** The parts of a file that a judgement needs. */
interface JudgedFile {
  readonly resources: readonly PositionedResource[];
  readonly findings: readonly Finding[];
  readonly kept: readonly TypeAndKey[];
}

/** All files, those with findings among them, and the layers that they make. */
export interface JudgedFiles {
  readonly all: ReadonlyMap<string, JudgedFile>;
  readonly bad: ReadonlySet<string>;
  readonly warned: ReadonlySet<string>;
  readonly layers: readonly { readonly path: string; readonly index: LayerIndex }[];
  readonly addresses: AddressClaims;
  /** As findings show a path. */
  readonly shown: (path: string) => string;
}

/** Finds the errors of files. Costs the files with findings. */
export function judgeFiles({ all, bad, warned, layers, addresses, shown }: JudgedFiles): FolderJudgement {
  const findings = [...bad, ...warned].sort().flatMap((path) => all.get(path)?.findings ?? []);
  const wrong = new Set(bad);
  for (const { index } of layers) {
    for (const entries of index.doubled()) {
      findings.push(duplicate(entries, shown));
      for (const { file } of entries) wrong.add(file);
    }
  }
  for (const clash of addresses.clashes) {
    const finding = sharedAddress(clash, shown);
    findings.push(finding);
    if (finding.severity === "error") for (const { file } of clash.claims) wrong.add(file);
  }
  return { findings, valid: all.size - wrong.size, bad: wrong, skipped: undefined };
}

/** The same if errors are skipped: each error says its effect. */
export function judgeSkipping(
  { all, bad, warned, layers, addresses, shown }: JudgedFiles,
  types: ResourceTypes,
): FolderJudgement {
  const findings: Finding[] = [];
  const counts: Record<SkippedStanding, number> = { lastGood: 0, absent: 0, elsewhere: 0 };
  for (const path of [...bad, ...warned].sort()) {
    const file = all.get(path);
    if (file === undefined) continue;
    const indexes = layers.filter((layer) => isWithin(path, layer.path)).map(({ index }) => index);
    const standingOf = (name: TypeAndKey) => worstStanding(indexes.map((index) => index.standingOf(name)));
    // If an error names no resource, only the file's previous content is known.
    const unnamed = file.kept.some((name) => standingOf(name) === "lastGood") ? "lastGood" : "absent";
    let hasUnnamed = false;
    for (const finding of file.findings) {
      const name = namedBy(finding, types);
      if (finding.severity === "error" && name === undefined) hasUnnamed = true;
      const standing = name === undefined ? unnamed : standingOf(name);
      findings.push(finding.severity === "error" ? withStanding(finding, standing) : finding);
    }
    if (hasUnnamed && unnamed === "absent") counts.absent += 1;
  }
  const wrong = new Set(bad);
  const doubled = new Set<PositionedResource["resource"]>();
  for (const { index } of layers) {
    for (const name of index.skipped()) counts[index.standingOf(name)] += 1;
    for (const entries of index.doubled()) {
      const [{ resource }] = entries as readonly [LayerIndexEntry, ...LayerIndexEntry[]];
      findings.push(withStanding(duplicate(entries, shown), index.standingOf(resource)));
      for (const { file, resource: each } of entries) {
        wrong.add(file);
        doubled.add(each);
      }
    }
  }
  // Neither of the two has priority, so both are served.
  for (const clash of addresses.clashes) findings.push({ ...sharedAddress(clash, shown), severity: "warning" });
  const inPart = Array.from(wrong).filter((path) =>
    all.get(path)?.resources.some(({ resource }) => !doubled.has(resource)),
  );
  const { lastGood, absent } = counts;
  return { findings, valid: all.size - wrong.size + inPart.length, bad: wrong, skipped: { lastGood, absent } };
}

function worstStanding(standings: readonly SkippedStanding[]): SkippedStanding {
  return standings.includes("absent") ? "absent" : (standings[0] ?? "absent");
}

function duplicate(entries: readonly LayerIndexEntry[], shown: (path: string) => string): Finding {
  const [first, ...others] = entries as readonly [LayerIndexEntry, ...LayerIndexEntry[]];
  const places = others.map(({ file, where: { line } }) => `${shown(file)}${line === undefined ? "" : `:${line}`}`);
  return {
    code: "XDSKIT_DUPLICATE_RESOURCE",
    severity: "error",
    ...first.where,
    file: shown(first.file),
    type: first.resource.type.name,
    resource: first.resource.name,
    message: `the same name is also in ${places.join(", ")}`,
  };
}

/** Between a change of another layer and a folder the server judges by the same rule (`addresses/`). */
function sharedAddress({ claims: [first, ...others], groups }: Clash, shown: (path: string) => string): Finding {
  const [{ entry, file, address }] = others as readonly [Clash["claims"][1], ...unknown[]];
  const { resource, where } = entry;
  const at = `${shown(first.file)}${first.entry.where.line === undefined ? "" : `:${first.entry.where.line}`}`;
  const isOfGrpc = [first, ...others].some((claim) => isOfGrpcServer(claim.entry.resource.name, claim.address.text));
  return {
    code: "XDSKIT_CLIENTS_REFUSE",
    severity: isOfGrpc ? "warning" : "error",
    ...where,
    file: shown(file),
    field: address.field,
    type: resource.type.name,
    resource: resource.name,
    message: sharedAddressMessage({
      address: address.text,
      first: first.entry.resource.name,
      place: at,
      others: others.length - 1,
      groups: groups ?? [],
    }),
  };
}
