import { type Finding, type Registry, type Resource, readResources, typesOfMessages } from "@xdskit/api";
import type { ApiClient } from "../api-client/api-client.js";
import { ApiError } from "../api-client/api-error.js";
import { withServer } from "../api-client/with-server.js";
import { type CommitOptions, outcomeOf } from "../api-writes/commit-change.js";
import { bytesOfInput } from "../api-writes/input-bytes.js";
import { sendChange } from "../api-writes/send-change.js";
import { createSentForm } from "../api-writes/sent-resource.js";
import { type ExportFile, parseExport } from "../export/export-file.js";
import { counted } from "../output/counts.js";
import { describeFinding, inputFailure, reportFailure } from "../output/failure.js";
import { jsonText } from "../output/json-text.js";
import { tell } from "../output/screen/told.js";
import { paintOf, type Terminal } from "../output/terminal.js";
import { exitStatus } from "../process/exit-status.js";
import { registryWith } from "../settings/descriptors.js";

export interface ImportOptions extends CommitOptions {
  readonly file: string;
  readonly descriptors: readonly string[];
}

interface LayerToImport {
  readonly name: string;
  readonly resources: readonly Resource[];
}

/**
 * Gives each layer of an exported file exactly what it had then, as one change of the layer. Resolves to the exit
 * status.
 */
export async function runImport(options: ImportOptions, terminal: Terminal): Promise<number> {
  let file: ExportFile;
  let registry: Registry;
  try {
    registry = await registryWith(options.descriptors);
    file = parseExport(Buffer.from(await bytesOfInput(options.file)).toString("utf8"), options.file);
  } catch (error) {
    return inputFailure(terminal, "import", error, [options.file, ...options.descriptors]);
  }
  const types = typesOfMessages(registry, []);
  const read = file.layers.map(({ name, resources }) => {
    const bytes = Buffer.from(JSON.stringify({ resources }));
    return { name, ...readResources({ path: "export.json", bytes }, { registry, types }) };
  });
  const findings = read.flatMap((layer) => layer.findings.map((finding) => inLayer(finding, layer.name, options.file)));
  if (refuses(findings, options, terminal)) return exitStatus.failed;
  const layers = read.map(({ name, resources }) => ({ name, resources: resources.map(({ resource }) => resource) }));
  if (layers.every(({ resources }) => resources.length === 0)) {
    reportFailure(terminal, "import", `${options.file} holds no resource: it would only remove what is there`);
    return exitStatus.failed;
  }
  const form = createSentForm(registry);
  return await withServer("import", options, terminal, async (client) => {
    await mustBeWritable(client, layers);
    // All are tried before the first one is changed.
    const send = ({ name, resources }: LayerToImport, dryRun: boolean) => {
      const message = options.message ?? `import of ${options.file}`;
      return sendChange(client, name, { upsert: resources.map(form), replace: true, message, dryRun });
    };
    const tried = [];
    for (const layer of layers) tried.push({ layer, answer: await send(layer, true) });
    let status: number = exitStatus.ok;
    const documents: object[] = [];
    try {
      for (const { layer, answer: trial } of tried) {
        const answer = options.dryRun ? trial : await send(layer, false);
        const known = { registry, types };
        const committed = { command: "import", layer: layer.name, answer, warnings: answer.findings, known };
        const outcome = await outcomeOf(client, committed, options, terminal);
        documents.push({ layer: layer.name, ...outcome.document });
        status = Math.max(status, outcome.status);
      }
    } finally {
      // Also where a later layer fails: these are changed.
      if (options.output === "json" && documents.length > 0) terminal.out(jsonText({ layers: documents }));
    }
    return status;
  });
}

/** The lines are those of a text that nobody sees. */
function inLayer(finding: Finding, layer: string, file: string): Finding {
  const { line: _, column: __, ...rest } = finding;
  return { ...rest, file, message: `${finding.message} (layer ${layer})` };
}

function refuses(findings: readonly Finding[], { file }: ImportOptions, terminal: Terminal): boolean {
  for (const finding of findings) tell(terminal, `${describeFinding(finding, paintOf(terminal, "err"))}\n`, "err");
  const errors = findings.filter(({ severity }) => severity === "error");
  if (errors.length === 0) return false;
  const isRedacted = errors.some(({ code }) => code === "XDSKIT_SECRET_LEFT_OUT");
  const hint = isRedacted ? "; export leaves secrets out: write them into the file, or remove these resources" : "";
  reportFailure(terminal, "import", `${file}: nothing was sent: ${counted(errors.length, "error")}${hint}`);
  return true;
}

async function mustBeWritable(client: ApiClient, layers: readonly LayerToImport[]): Promise<void> {
  const { layers: served } = await client.get("/api/v1/layers");
  const writable = served.filter((layer) => layer.writable).map(({ name }) => name);
  const missing = layers.map(({ name }) => name).filter((name) => !writable.includes(name));
  if (missing.length === 0) return;
  const names = writable.length === 0 ? "none" : writable.join(", ");
  throw new ApiError(
    `the server has no writable layer ${missing.map((name) => `"${name}"`).join(", ")}, only ${names}`,
  );
}
