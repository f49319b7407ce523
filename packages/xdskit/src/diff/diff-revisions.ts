import { diffOf } from "../api-client/all-pages.js";
import type { ApiServer } from "../api-client/api-server.js";
import { findRevision } from "../api-client/find-revision.js";
import { withServer } from "../api-client/with-server.js";
import { changesAtServer } from "../comparison/changes-at-server.js";
import { printServerComparison } from "../comparison/server-comparison.js";
import type { Terminal } from "../output/terminal.js";
import { exitStatus } from "../process/exit-status.js";

export interface DiffRevisionsOptions {
  /** An id, or the beginning of one. */
  readonly from: string;
  /** Undefined: the newest of its layer. */
  readonly to: string | undefined;
  readonly server: ApiServer;
  readonly output: "text" | "json";
}

/** Prints what differs between two revisions of a layer. Resolves to the exit status: 0, 3, or 1 if it failed. */
export function diffRevisions(options: DiffRevisionsOptions, terminal: Terminal): Promise<number> {
  return withServer("diff", options, terminal, async (client) => {
    const from = (await findRevision(client, options.from)).id;
    const to = options.to === undefined ? undefined : (await findRevision(client, options.to)).id;
    const answer = await diffOf(client, from, to);
    const changes = changesAtServer(answer.changes, undefined);
    printServerComparison({ changes, stages: answer.stages }, options.output, terminal);
    return changes.length > 0 ? exitStatus.differs : exitStatus.ok;
  });
}
