import { resourceTypes } from "@xdskit/api";
import type { ApiClient } from "../api-client/api-client.js";
import { ApiError } from "../api-client/api-error.js";
import type { LayerView } from "../api-client/api-types.js";
import { type ListedResource, listResources } from "../api-client/list-resources.js";
import { withServer } from "../api-client/with-server.js";
import { counted } from "../output/counts.js";
import { printable } from "../output/printable.js";
import type { Terminal } from "../output/terminal.js";
import { exitStatus } from "../process/exit-status.js";
import { type ExportedLayer, type ExportFile, exportFormat } from "./export-file.js";
import { holdsRedacted } from "./holds-redacted.js";

/** The options of `export`. */
export interface ExportOptions {
  readonly server: URL;
  /** Undefined: all that can be written. */
  readonly layer: string | undefined;
}

/** A layer that changes while it is read is read again. */
const mostAttempts = 5;

/** Prints what the writable layers of a running server hold. Resolves to the exit status. */
export function runExport(options: ExportOptions, terminal: Terminal): Promise<number> {
  return withServer("export", { server: options.server }, terminal, async (client) => {
    const layers: ExportedLayer[] = [];
    const redacted: string[] = [];
    for (const layer of await writableLayers(client, options.layer)) {
      const { revision, listed } = await contentOf(client, layer.name);
      layers.push({ name: layer.name, revision, resources: listed.map(({ resource }) => resource) });
      redacted.push(...listed.filter(({ resource }) => holdsRedacted(resource)).map(titleOf));
    }
    const file: ExportFile = { format: exportFormat, time: new Date().toISOString(), layers };
    terminal.out(`${JSON.stringify(file, undefined, 2)}\n`);
    if (redacted.length > 0) terminal.err(`xdskit export: ${printable(leftOutText(redacted))}\n`);
    return exitStatus.ok;
  });
}

async function writableLayers(client: ApiClient, asked: string | undefined): Promise<readonly LayerView[]> {
  const { layers } = await client.get<{ readonly layers: readonly LayerView[] }>("/api/v1/layers");
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

/** All of a layer, as it was at one moment. */
async function contentOf(client: ApiClient, layer: string) {
  const headOf = async () => {
    const [found] = (await writableLayers(client, layer)).map(({ head }) => head?.id ?? null);
    return found ?? null;
  };
  let revision = await headOf();
  for (let attempt = 0; attempt < mostAttempts; attempt += 1) {
    const listed = await listResources(client, layer);
    const after = await headOf();
    if (after === revision) return { revision, listed };
    revision = after;
  }
  throw new ApiError(`layer "${layer}" changes all the time: try again`);
}

function titleOf({ type, name }: ListedResource): string {
  return `${resourceTypes.byTypeUrl(type)?.type.name ?? type} ${JSON.stringify(name)}`;
}

function leftOutText(titles: readonly string[]): string {
  const shown = titles.slice(0, 10).join(", ");
  const more = titles.length > 10 ? ` … and ${titles.length - 10} more` : "";
  return (
    `the secrets of ${counted(titles.length, "resource")} are left out ([redacted]): ${shown}${more}. ` +
    "import refuses the file until you write them there, or remove these resources from it"
  );
}
