import { noSuchType, resourceTypes } from "@xdskit/api";
import type { ApiClient } from "../api-client/api-client.js";
import { ApiError } from "../api-client/api-error.js";
import type { ChangeAnswer } from "../api-client/api-types.js";
import { withServer } from "../api-client/with-server.js";
import { type CommitOptions, reportChange } from "../api-writes/commit-change.js";
import { sendChange } from "../api-writes/send-change.js";
import { reportFailure } from "../output/failure.js";
import type { Terminal } from "../output/terminal.js";
import { exitStatus } from "../process/exit-status.js";

export interface DeleteOptions extends CommitOptions {
  readonly type: string;
  readonly names: readonly string[];
  readonly layer: string;
}

/** Removes resources of a layer as one change, all of them or none. Resolves to the exit status. */
export async function runDelete(options: DeleteOptions, terminal: Terminal): Promise<number> {
  const { type: asked, names, layer, message, dryRun = false } = options;
  const type = resourceTypes.find(asked)?.typeUrl ?? (asked.includes("/") ? asked : undefined);
  if (type === undefined) {
    reportFailure(terminal, "delete", noSuchType(asked, resourceTypes));
    return exitStatus.usage;
  }
  return await withServer("delete", options, terminal, async (client) => {
    const change = { delete: names.map((name) => ({ type, name })), message };
    const answer = await whileItStays(async () => {
      // What is looked at must be what is changed.
      const head = await headOf(client, layer);
      const would = await sendChange(client, layer, { ...change, dryRun: true }, head);
      mustBeThere(would, asked, options);
      return dryRun ? would : await sendChange(client, layer, change, head);
    });
    const committed = { command: "delete", layer, answer, warnings: answer.findings };
    return await reportChange(client, committed, options, terminal);
  });
}

/** A layer may change in between this many times: then a deletion is given up. */
const maxTries = 20;

/** Makes a change anew where the layer has changed since it was looked at. */
async function whileItStays<T>(change: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await change();
    } catch (error) {
      const hasChanged = error instanceof ApiError && error.code === "XDSKIT_REVISION_CONFLICT";
      if (!hasChanged || tries === maxTries) throw error;
    }
  }
}

/** Null: the layer was never written. Undefined: there is no such layer, which the change says. */
async function headOf(client: ApiClient, layer: string): Promise<string | null | undefined> {
  const { layers } = await client.get("/api/v1/layers");
  const found = layers.find(({ name }) => name === layer);
  return found && (found.head?.id ?? null);
}

/** A name that is not there is most often misspelled: then nothing is deleted. */
function mustBeThere({ changed }: ChangeAnswer, type: string, { names, layer }: DeleteOptions): void {
  const found = new Set(changed.map(({ name }) => name));
  const missing = names.filter((name) => !found.has(name));
  if (missing.length === 0) return;
  const list = missing.map((name) => `${type} ${JSON.stringify(name)}`).join(", ");
  const isOne = missing.length === 1;
  throw new ApiError(`${list} ${isOne ? "is" : "are"} not in layer "${layer}": nothing was deleted`);
}
