import { errorsIn, type Finding, XdskitError } from "@xdskit/api";
import type { ApiClient } from "../api-client/api-client.js";
import { ApiError } from "../api-client/api-error.js";
import type { ApiServer } from "../api-client/api-server.js";
import type { LayerJson } from "../api-client/api-types.js";
import { withServer } from "../api-client/with-server.js";
import { findingsInFiles } from "../api-writes/findings-in-files.js";
import type { Input } from "../api-writes/input.js";
import { sendChange } from "../api-writes/send-change.js";
import { createSentForm } from "../api-writes/sent-resource.js";
import { type CheckedDirectory, checkDirectory } from "../checking/check-directory.js";
import { changesAtServer } from "../comparison/changes-at-server.js";
import { printServerComparison } from "../comparison/server-comparison.js";
import type { ShownChange } from "../comparison/shown-change.js";
import type { PlannedStages } from "../comparison/stages-text.js";
import { describeFinding, inputFailure, reportFailure } from "../output/failure.js";
import { tell } from "../output/screen/told.js";
import { paintOf, type Terminal } from "../output/terminal.js";
import { exitStatus } from "../process/exit-status.js";
import { compareByVersion } from "./compare-by-version.js";
import { judgeTogether, type LayerContent } from "./judge-together.js";

export interface DiffServedOptions {
  readonly directory: string;
  readonly server: ApiServer;
  readonly output: "text" | "json";
  readonly settings: string | undefined;
  readonly descriptors: readonly string[];
}

/**
 * Prints what would differ if a running server served this folder. Resolves to the exit status: 0 if nothing, 3 if
 * something, 1 if the folder has errors, if the server would refuse it, or if no server answers, 2 if the folder or
 * a named file is not there. What differs is printed even if the server would refuse it.
 */
export async function diffWithServer(options: DiffServedOptions, terminal: Terminal): Promise<number> {
  let folder: CheckedDirectory;
  try {
    folder = await checkDirectory(options);
  } catch (error) {
    return inputFailure(terminal, "diff", error, [options.settings, ...options.descriptors]);
  }
  const errors = errorsIn(folder.findings);
  const [first, ...more] = errors;
  if (first !== undefined) {
    reportFailure(terminal, "diff", new XdskitError([first, ...more]));
    return exitStatus.failed;
  }
  return await withServer("diff", options, terminal, async (client) => {
    const { changes, stages, findings, refusals } = await compare(client, folder);
    for (const finding of findings) tell(terminal, `${describeFinding(finding, paintOf(terminal, "err"))}\n`, "err");
    printServerComparison({ changes, stages }, options.output, terminal);
    const [reason, ...others] = refusals;
    if (reason !== undefined) {
      reportFailure(terminal, "diff", "the server would refuse this folder:");
      for (const finding of [reason, ...others])
        tell(terminal, `  ${describeFinding(finding, paintOf(terminal, "err"))}\n`, "err");
      return exitStatus.failed;
    }
    return changes.length > 0 ? exitStatus.differs : exitStatus.ok;
  });
}

/** The server understood the request, and does not want what it says. */
const refusedStatus = 422;

/** Codes of what one layer may be refused for alone, and not together with the others. */
const openCodes: ReadonlySet<string | undefined> = new Set([
  "XDSKIT_REFERENCE_BROKEN",
  "XDSKIT_DANGLING_REFERENCE",
  "XDSKIT_CLIENTS_REFUSE",
]);

async function compare(client: ApiClient, folder: CheckedDirectory) {
  const { layers: served } = await client.get("/api/v1/layers");
  const pairs = layersToCompare(folder, served);
  const form = createSentForm(folder.registry);
  const changes: ShownChange[] = [];
  const stages: PlannedStages[] = [];
  const findings: Finding[] = [];
  const refused: RefusedLayer[] = [];
  for (const { layer, resources } of pairs) {
    const input = { resources, whereIs: folder.whereIs };
    const change = { upsert: resources.map(form), replace: true, dryRun: true };
    const answer = await sendChange(client, layer, change).catch(async (error: unknown) => {
      if (!(error instanceof ApiError)) throw error;
      if (error.status !== refusedStatus) throw error;
      refused.push({ layer, resources, error });
      return { changed: await compareByVersion(client, layer, resources, folder.registry), stages: [], findings: [] };
    });
    changes.push(...changesAtServer(answer.changed, pairs.length === 1 ? undefined : layer, folder));
    stages.push(...answer.stages);
    findings.push(...findingsInFiles(answer.findings, input));
  }
  const { whereIs } = folder;
  const own = (those: readonly RefusedLayer[]) =>
    those.flatMap(({ error, resources }) => refusalsOf(error, { resources, whereIs }));
  if (pairs.length === 1) return { changes, stages, findings, refusals: own(refused) };
  // Each layer's answer lacks what the others bring.
  const ofLayers = findings.filter(({ code }) => code !== "XDSKIT_DANGLING_REFERENCE");
  // What one layer takes away another one may bring, and what one listens at another one may leave.
  const open = refused.filter(({ error }) => openCodes.has(error.code));
  if (changes.length === 0 || (open.length === 0 && refused.length > 0))
    return { changes, stages: [], findings: ofLayers, refusals: own(refused) };
  const isOpen = (code: string) => open.some(({ error }) => error.code === code);
  const references = isOpen("XDSKIT_DANGLING_REFERENCE")
    ? "strict"
    : isOpen("XDSKIT_REFERENCE_BROKEN")
      ? "refuse"
      : "warn";
  const names = served.map(({ name }) => name);
  const judged = await judgeTogether(client, names, folder, references, pairs, open);
  // The other layers do not change a refusal that is of another kind.
  const certain = refused.filter((one) => judged.alone[open.indexOf(one)]?.length === 0 || !open.includes(one));
  const resources = pairs.flatMap((one) => one.resources);
  const refusals = [...own(certain), ...findingsInFiles(judged.together, { resources, whereIs })];
  const isRefused = refusals.length > 0;
  return { changes, stages: isRefused ? [] : judged.stages, findings: [...ofLayers, ...judged.warnings], refusals };
}

/** A layer that the server would not take, and why. */
interface RefusedLayer extends LayerContent {
  readonly error: ApiError;
}

/** Why a server refuses a change, with places in the files. */
function refusalsOf({ findings, code, message }: ApiError, input: Pick<Input, "resources" | "whereIs">): Finding[] {
  const found = findingsInFiles(findings, input);
  return found.length > 0
    ? found
    : [{ code: (code ?? "XDSKIT_API_REQUEST") as Finding["code"], severity: "error", message }];
}

/** The layers that a folder fills on the server, each with what this folder has for it. */
function layersToCompare({ layers }: CheckedDirectory, served: readonly LayerJson[]) {
  const fromFolders = served.filter(({ place }) => place === null).map(({ name }) => name);
  const [only] = fromFolders;
  const [own] = layers;
  // Without groups there is one layer, and its name is none of the folder's own.
  if (only !== undefined && own !== undefined && fromFolders.length === 1 && layers.size === 1)
    return [{ layer: only, resources: own[1] }];
  const unknown = [...layers.keys()].filter((name) => !fromFolders.includes(name));
  if (unknown.length === 0) return fromFolders.map((layer) => ({ layer, resources: layers.get(layer) ?? [] }));
  const there = fromFolders.length === 0 ? "none" : fromFolders.join(", ");
  throw new ApiError(
    `the server serves other folders: it has no ${unknown.join(", ")}, only ${there}; do its settings have the same groups?`,
  );
}
