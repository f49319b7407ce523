import type { Stats } from "node:fs";
import { readlink, realpath, stat, writeFile } from "node:fs/promises";
import { basename, dirname, isAbsolute, join } from "node:path";
import {
  leavesSecretOut,
  listNames,
  printable,
  type Resource,
  referenceText,
  resourceTypes,
  typesOfMessages,
  XdskitError,
} from "@xdskit/api";
import { replaceFile } from "@xdskit/api/disk";
import { decodeStored } from "@xdskit/server";
import type { ApiClient } from "../api-client/api-client.js";
import { ApiError } from "../api-client/api-error.js";
import type { ApiServer } from "../api-client/api-server.js";
import type { LayerJson, LayerResource } from "../api-client/api-types.js";
import { listResources } from "../api-client/list-resources.js";
import { withServer } from "../api-client/with-server.js";
import { createSentForm } from "../api-writes/sent-resource.js";
import { mustBeFolder } from "../files/must-be-folder.js";
import { counted } from "../output/counts.js";
import { inputFailure } from "../output/failure.js";
import { jsonText } from "../output/json-text.js";
import { tell } from "../output/screen/told.js";
import type { Terminal } from "../output/terminal.js";
import { exitStatus } from "../process/exit-status.js";
import { registryWith } from "../settings/descriptors.js";
import { type ExportedLayer, type ExportFile, exportFormat } from "./export-file.js";
import { readFromState } from "./read-state.js";

export interface ExportOptions {
  readonly server: ApiServer;
  /** Undefined: all that can be written. */
  readonly layer: string | undefined;
  /** `-`: standard output. */
  readonly file: string;
  /** Reads contents from the server's state on this machine, with their secrets. */
  readonly showSecrets: boolean;
  /** Where that is; undefined: where it is by default. */
  readonly state: string | undefined;
  readonly descriptors: readonly string[];
}

/** Layers that change while they are read are read again. */
const maxAttempts = 5;

/** It may hold private keys. */
const exportMode = { file: 0o600, folder: 0o700, durable: true };

/** Writes down what the writable layers of a running server hold, all at one moment. Resolves to the exit status. */
export function runExport(options: ExportOptions, terminal: Terminal): Promise<number> {
  const { server, file, showSecrets } = options;
  return withServer("export", { server }, terminal, async (client) => {
    const redacted: string[] = [];
    try {
      const layers = showSecrets
        ? await wholeLayers(client, options)
        : await listedLayers(client, options.layer, (title) => redacted.push(title));
      const content: ExportFile = { format: exportFormat, time: new Date().toISOString(), layers };
      const text = jsonText(content);
      if (file === "-" || file === "/dev/stdout") terminal.out(text);
      else await written(file, text);
    } catch (error) {
      return inputFailure(terminal, "export", error, options.descriptors);
    }
    if (redacted.length > 0) tell(terminal, `xdskit export: ${printable(leftOutText(redacted))}\n`, "err");
    return exitStatus.ok;
  });
}

async function written(file: string, text: string): Promise<void> {
  try {
    const there = await found(file);
    // A device or a FIFO must stay what it is; so must a link to the real file, or to one that is not there yet.
    if (there === undefined) await replaceFile(await behindLinks(file), text, exportMode);
    else if (there.isFile()) await replaceFile(await realpath(file), text, exportMode);
    else await writeFile(file, text, { mode: exportMode.file });
  } catch (error) {
    if (error instanceof XdskitError) throw error;
    const { code, message } = error as NodeJS.ErrnoException;
    throw XdskitError.of(
      "XDSKIT_FILE_UNREADABLE",
      `it cannot be written: ${code ?? message}`,
      { file },
      { cause: error },
    );
  }
}

async function found(file: string): Promise<Stats | undefined> {
  return await stat(file).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOENT") throw error;
    return undefined;
  });
}

/**
 * The path to which links lead that end at no file. `realpath` knows only files that are there. Its folder must be
 * there: a folder that is made because of a typo is found by nobody.
 */
async function behindLinks(file: string): Promise<string> {
  await mustBeFolder(dirname(file));
  const target = await readlink(file).catch(() => undefined);
  if (target === undefined) return file;
  const path = isAbsolute(target) ? target : `${dirname(file)}/${target}`;
  await mustBeFolder(dirname(path));
  return await behindLinks(join(await realpath(dirname(path)), basename(path)));
}

async function writableLayers(client: ApiClient, asked: string | undefined): Promise<readonly LayerJson[]> {
  const { layers } = await client.get("/api/v1/layers");
  const writable = layers.filter((layer) => layer.writable);
  const names = writable.map(({ name }) => name).join(", ");
  if (asked === undefined) {
    if (writable.length === 0) throw new ApiError("the server has no layer that can be written");
    return writable;
  }
  const found = writable.filter(({ name }) => name === asked);
  if (found.length === 0) throw new ApiError(`there is no writable layer "${asked}", only ${names || "none"}`);
  return found;
}

/** All layers as the API shows them, as they were at one moment. `leftOut` is told what has a secret. */
async function listedLayers(
  client: ApiClient,
  asked: string | undefined,
  leftOut: (title: string) => void,
): Promise<readonly ExportedLayer[]> {
  const heads = (layers: readonly LayerJson[]) => JSON.stringify(layers.map(({ name, head }) => [name, head?.id]));
  let layers = await writableLayers(client, asked);
  for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
    const read: { readonly layer: LayerJson; readonly listed: readonly LayerResource[] }[] = [];
    for (const layer of layers) read.push({ layer, listed: await listResources(client, layer.name) });
    const after = await writableLayers(client, asked);
    if (heads(after) === heads(layers)) {
      for (const { listed } of read) for (const one of listed) if (leavesSecretOut(one.resource)) leftOut(titleOf(one));
      return read.map(({ layer: { name, head }, listed }) => {
        return { name, revision: head?.id ?? null, resources: listed.map(({ resource }) => resource) };
      });
    }
    layers = after;
  }
  throw new ApiError("what is exported changes all the time: try again");
}

/** All layers with their secrets: the server says which revisions they have, and its state what is in these. */
async function wholeLayers(client: ApiClient, options: ExportOptions): Promise<readonly ExportedLayer[]> {
  const registry = await registryWith(options.descriptors);
  const layers = await writableLayers(client, options.layer);
  const contents = await readFromState(
    options.state,
    layers.flatMap(({ head }) => head?.id ?? []),
  );
  const types = typesOfMessages(registry, []);
  const form = createSentForm(registry);
  return layers.map(({ name, head }) => {
    const stored = head === null ? [] : (contents.get(head.id) ?? []);
    const resources = stored.map((one) => decodeStored(one, { types, registry })).toSorted(byTypeAndName);
    return { name, revision: head?.id ?? null, resources: resources.map(form) };
  });
}

function byTypeAndName(a: Resource, b: Resource): number {
  if (a.type.typeUrl !== b.type.typeUrl) return a.type.typeUrl < b.type.typeUrl ? -1 : 1;
  return a.key < b.key ? -1 : 1;
}

function titleOf({ type, name }: LayerResource): string {
  return referenceText({ type, name }, resourceTypes);
}

function leftOutText(titles: readonly string[]): string {
  return (
    `the secrets of ${counted(titles.length, "resource")} are left out ([redacted]): ${listNames(titles)}. ` +
    "import refuses the file until you write them there, or remove these resources from it; " +
    "on the server's machine, --show-secrets writes them"
  );
}
