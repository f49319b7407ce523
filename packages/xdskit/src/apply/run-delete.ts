import { resourceTypes } from "@xdskit/api";
import { ApiError } from "../api-client/api-error.js";
import { withServer } from "../api-client/with-server.js";
import { reportFailure } from "../output/failure.js";
import type { Terminal } from "../output/terminal.js";
import { exitStatus } from "../process/exit-status.js";
import { type CommitOptions, reportChange } from "./commit-change.js";
import { sendChange } from "./send-change.js";

/** The options of `delete`. */
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
    const hint = "try cluster, endpoint, listener, route, or a type URL";
    reportFailure(terminal, "delete", `there is no type "${asked}": ${hint}`);
    return exitStatus.usage;
  }
  return await withServer("delete", options, terminal, async (client) => {
    const change = { delete: names.map((name) => ({ type, name })), message };
    // A name that is not there is most often misspelled: then nothing is to go.
    const would = await sendChange(client, layer, { ...change, dryRun: true });
    const found = new Set(would.changed.map(({ name }) => name));
    const missing = names.filter((name) => !found.has(name));
    if (missing.length > 0) {
      const list = missing.map((name) => `${asked} ${JSON.stringify(name)}`).join(", ");
      const isOne = missing.length === 1;
      throw new ApiError(`${list} ${isOne ? "is" : "are"} not in layer "${layer}": nothing was deleted`);
    }
    const answer = dryRun ? would : await sendChange(client, layer, change);
    return await reportChange(client, { layer, answer, warnings: answer.findings }, options, terminal);
  });
}
