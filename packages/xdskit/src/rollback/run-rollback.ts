import { postChange } from "../api-client/all-pages.js";
import type { ApiClient } from "../api-client/api-client.js";
import { ApiError } from "../api-client/api-error.js";
import type { LayerJson, RevisionJson } from "../api-client/api-types.js";
import { findRevision } from "../api-client/find-revision.js";
import { layerPath } from "../api-client/layer-path.js";
import { withServer } from "../api-client/with-server.js";
import { type CommitOptions, reportChange } from "../api-writes/commit-change.js";
import type { Terminal } from "../output/terminal.js";
import { userName } from "../process/user-name.js";

export interface RollbackOptions extends CommitOptions {
  /** Undefined: what was before the newest revision. */
  readonly revision: string | undefined;
  readonly layer: string | undefined;
}

/** Serves an older revision of a layer again, as a new one. Resolves to the exit status. */
export function runRollback(options: RollbackOptions, terminal: Terminal): Promise<number> {
  return withServer("rollback", options, terminal, async (client) => {
    const to = options.revision === undefined ? undefined : await findRevision(client, options.revision);
    const layer = to === undefined ? (options.layer ?? (await onlyLayer(client))) : layerOf(to, options.layer);
    const body = { to: to?.id, message: options.message, author: userName(), dryRun: options.dryRun };
    const answer = await postChange(client, `${layerPath(layer)}/rollback`, body);
    const committed = { command: "rollback", layer, answer, warnings: answer.findings };
    return await reportChange(client, committed, options, terminal);
  });
}

function layerOf({ id, layer }: RevisionJson, asked: string | undefined): string {
  if (asked === undefined || asked === layer) return layer;
  throw new ApiError(`revision ${id} is one of layer "${layer}", not of "${asked}"`);
}

async function onlyLayer(client: ApiClient): Promise<string> {
  const { layers } = await client.get<{ readonly layers: readonly LayerJson[] }>("/api/v1/layers");
  const begun = layers.flatMap(({ head, ...layer }) => (head === null ? [] : [{ ...layer, head }]));
  if (begun.length === 0) throw new ApiError("no layer has a revision yet");
  // A layer of the API was empty before its first revision; what a folder held before its own is not known.
  const [first, ...more] = begun.filter(({ head, writable }) => writable || head.parent !== null);
  if (first === undefined) throw new ApiError("no layer has anything from before its newest revision");
  if (more.length === 0) return first.name;
  throw new ApiError(
    `name a revision, or a layer: --layer ${[first, ...more].map(({ name }) => name).join(", --layer ")}`,
  );
}
