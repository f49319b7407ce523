import {
  type EnvoyVersion,
  type FieldStep,
  type Finding,
  fieldPlaces,
  hasErrors,
  judgedByEnvoyOnly,
  type Reference,
  type Registry,
  type Resource,
  type ResourceTypes,
  resourceTypes,
  type Where,
  XdskitError,
} from "@xdskit/api";
import {
  type AdoptedFile,
  createFolderSource,
  everyNode,
  type FolderSummary,
  type LayerName,
  type SkippedCounts,
} from "@xdskit/server";
import type { Settings } from "../settings/schema.js";
import { folderSettings } from "../settings/server-settings.js";
import { danglingReferences, type ServedGroup } from "./dangling-references.js";
import { extensionsThatEnvoyLacks } from "./envoys-extensions.js";
import { newerThanEnvoy } from "./newer-than-envoy.js";

export interface CheckOptions {
  readonly directory: string;
  readonly settings: Settings;
  readonly registry: Registry;
  /** Default: the built-in types. */
  readonly types?: ResourceTypes | undefined;
  /** Files in the folder that hold no resources. */
  readonly ignore: readonly string[];
  /** Versions of Envoy that must understand all resources. */
  readonly envoyVersions?: readonly EnvoyVersion[];
}

/** The result of a check. */
export interface CheckedFolder {
  readonly files: number;
  readonly groups: readonly ServedGroup[];
  /** What each folder of a group holds; all of it is `default` where the settings have no groups. */
  readonly layers: ReadonlyMap<LayerName, readonly Resource[]>;
  /** Where one of them is written. */
  readonly whereIs: (resource: Resource) => Where | undefined;
  readonly findings: readonly Finding[];
  /** With `on_invalid: skip`, how many resources a server would skip at a start; otherwise undefined. */
  readonly skipped: SkippedCounts | undefined;
  /** How many resources hold what only an Envoy can judge, and what that is: `Lua`, `CEL`. */
  readonly envoyOnly: { readonly resources: number; readonly kinds: readonly string[] };
  /** The resources taken from files of another form. */
  readonly adopted: readonly AdoptedFile[];
}

/** Nobody reads more; the last finding says if there are more. */
const maxFindings = 10_000;

/** Reads a folder as `serve` does, with the same source, and also checks that named resources exist. */
export async function checkFolder({
  directory,
  settings,
  registry,
  types = resourceTypes,
  ignore,
  envoyVersions = [],
}: CheckOptions): Promise<CheckedFolder> {
  const layers = new Map<LayerName, readonly Resource[]>();
  let findings: readonly Finding[] = [];
  let summary: FolderSummary | undefined;
  const folder = folderSettings(settings);
  const source = createFolderSource({
    ...folder,
    limits: { ...folder.limits, findings: maxFindings },
    directory,
    ignore,
    read: { registry, types },
    // The source refuses to start without a valid file; here that is one finding among others.
    allowEmpty: true,
    // The source waits until errors are fixed; here they are the result.
    allowPartial: true,
    onRead: (read) => {
      summary = read;
    },
  });
  try {
    await source.start({
      apply: (updates) => {
        for (const { layer, upsert } of updates) layers.set(layer, upsert);
      },
      // A source reports skipped resources as warnings; here they are errors.
      report: () => {},
    });
    findings = summary?.findings ?? [];
  } catch (error) {
    if (!(error instanceof XdskitError)) throw error;
    findings = error.findings;
  } finally {
    await source.close();
  }
  // With `allowEmpty` these are warnings; here they are the result.
  findings = findings.map((each) => (each.code === "XDSKIT_GROUP_FOLDERS" ? { ...each, severity: "error" } : each));
  const files = summary?.files ?? 0;
  if (files === 0 && !hasErrors(findings)) findings = [...findings, noFile(directory)];
  const groups = groupsOf(settings, layers);
  // One resource object can come from several layers only if one folder lies in another: its place is then the same.
  const layerOf = new Map([...layers].flatMap(([layer, resources]) => resources.map((each) => [each, layer] as const)));
  const whereIs = (resource: Resource) => {
    const layer = layerOf.get(resource);
    return layer === undefined ? undefined : summary?.whereIs(layer, resource);
  };
  // While files with errors are left out, many names are missing only for that reason.
  const broken = hasErrors(findings) && summary?.skipped === undefined;
  const places = fieldPlaces({ registry, types });
  const whereNamed = (resource: Resource, reference: Reference) => places.named(resource, reference, whereIs(resource));
  const whereField = (resource: Resource, steps: readonly FieldStep[]) =>
    places.field(resource, steps, whereIs(resource));
  const dangling = broken ? [] : danglingReferences(groups, types, settings, whereNamed);
  const missing = extensionsThatEnvoyLacks(layerOf.keys(), registry, whereField);
  const newer = newerThanEnvoy(layerOf.keys(), envoyVersions, registry, whereField);
  return {
    files,
    groups,
    layers,
    whereIs,
    findings: [...findings, ...dangling, ...missing, ...newer],
    adopted: summary?.adopted ?? [],
    envoyOnly: envoyOnlyIn(layerOf.keys(), registry),
    skipped: summary?.skipped,
  };
}

function envoyOnlyIn(resources: Iterable<Resource>, registry: Registry): CheckedFolder["envoyOnly"] {
  const kinds = new Set<string>();
  let count = 0;
  for (const { type, body } of resources) {
    const found = type.schema === undefined ? [] : [...judgedByEnvoyOnly(type.schema, body, registry)];
    for (const kind of found) kinds.add(kind);
    if (found.length > 0) count += 1;
  }
  return { resources: count, kinds: [...kinds].sort() };
}

function noFile(directory: string): Finding {
  const message = "no file with resources is in the folder, or in the folders of its groups";
  return { code: "XDSKIT_NO_VALID_FILE", severity: "error", message, file: directory };
}

function groupsOf(settings: Settings, layers: ReadonlyMap<LayerName, readonly Resource[]>): readonly ServedGroup[] {
  const groups = settings.groups ?? [{ name: everyNode, folders: [...layers.keys()] }];
  return groups.map(({ name, folders }) => {
    const merged = new Map<string, Resource>();
    for (const layer of folders) {
      // A later folder wins over an earlier one by type and name.
      for (const resource of layers.get(layer) ?? []) merged.set(`${resource.type.typeUrl} ${resource.key}`, resource);
    }
    return { group: name, resources: [...merged.values()] };
  });
}
