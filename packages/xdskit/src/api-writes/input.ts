import { stat } from "node:fs/promises";
import {
  type Finding,
  type Registry,
  type Resource,
  type ResourceTypes,
  readResources,
  typesOfMessages,
  type Where,
} from "@xdskit/api";
import { checkDirectory } from "../checking/check-directory.js";
import { registryWith } from "../settings/descriptors.js";
import { bytesOfInput, standardInput } from "./input-bytes.js";

/** The resources to send, and their places in files. */
export interface Input {
  readonly resources: readonly Resource[];
  readonly findings: readonly Finding[];
  readonly registry: Registry;
  readonly types: ResourceTypes;
  whereIs(resource: Resource): Where | undefined;
}

/** Reads files and folders as `serve` does; throws an XdskitError if one is not there or cannot be read. */
export async function readInput(
  paths: readonly string[],
  descriptors: readonly string[],
  stdin: AsyncIterable<Uint8Array> = process.stdin,
): Promise<Input> {
  const parts: Input[] = [];
  for (const path of paths) {
    const isFolder = path !== standardInput && (await stat(path).catch(() => undefined))?.isDirectory();
    parts.push(await (isFolder ? folderInput(path, descriptors) : fileInput(path, descriptors, stdin)));
  }
  const [first] = parts;
  if (first === undefined) throw new Error("nothing to read");
  const joined = join(first, parts);
  return { ...joined, findings: [...joined.findings, ...duplicates(joined)] };
}

async function folderInput(directory: string, descriptors: readonly string[]): Promise<Input> {
  const { layers, findings, registry, types, whereIs } = await checkDirectory({
    directory,
    descriptors,
    isOneLayer: true,
  });
  // Whether a name leads nowhere depends on what else the server has: it says so.
  const own = findings.filter(({ code }) => code !== "XDSKIT_DANGLING_REFERENCE");
  return { resources: [...layers.values()].flat(), findings: own, registry, types, whereIs };
}

async function fileInput(
  path: string,
  descriptors: readonly string[],
  stdin: AsyncIterable<Uint8Array>,
): Promise<Input> {
  const registry = await registryWith(descriptors);
  const types = typesOfMessages(registry, []);
  const isStdin = path === standardInput;
  // JSON is read as YAML, too.
  const file = isStdin ? "standard-input.yaml" : path;
  const bytes = await bytesOfInput(path, stdin);
  const { resources, findings } = readResources({ path: file, bytes }, { registry, types });
  const places = new Map(resources.map(({ resource, where }) => [resource, where]));
  const shown = <T extends Where>(where: T): T => (isStdin ? { ...where, file: "standard input" } : where);
  return {
    resources: [...places.keys()],
    findings: findings.map(shown),
    registry,
    types,
    whereIs: (resource) => {
      const where = places.get(resource);
      return where && shown(where);
    },
  };
}

function join({ registry, types }: Input, all: readonly Input[]): Input {
  const places = all.map(({ whereIs }) => whereIs);
  return {
    registry,
    types,
    resources: all.flatMap(({ resources }) => resources),
    findings: all.flatMap(({ findings }) => findings),
    whereIs: (resource) => places.map((whereIs) => whereIs(resource)).find((where) => where !== undefined),
  };
}

/** A layer has one resource of a type and name; within a folder the folder's reader has found them already. */
function duplicates({ resources, whereIs, findings: known }: Input): readonly Finding[] {
  if (known.some(({ code }) => code === "XDSKIT_DUPLICATE_RESOURCE")) return [];
  const seen = new Map<string, Resource>();
  const findings: Finding[] = [];
  for (const resource of resources) {
    const { type, key, name } = resource;
    const before = seen.get(`${type.typeUrl} ${key}`);
    if (before === undefined) {
      seen.set(`${type.typeUrl} ${key}`, resource);
      continue;
    }
    const { file = "", line } = whereIs(before) ?? {};
    const message = `the name stands in ${line === undefined ? file : `${file}:${line}`} already`;
    const about = { type: type.name, resource: name, ...whereIs(resource) };
    findings.push({ code: "XDSKIT_DUPLICATE_RESOURCE", severity: "error", message, ...about });
  }
  return findings;
}
