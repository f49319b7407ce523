import { setTimeout as delay } from "node:timers/promises";
import type { ApiClient } from "../api-client/api-client.js";
import { ApiError } from "../api-client/api-error.js";
import type { ApiServer } from "../api-client/api-server.js";
import { findRevision } from "../api-client/find-revision.js";
import { withServer } from "../api-client/with-server.js";
import { arrivalText } from "../api-writes/arrival-text.js";
import { type WaitFor, waitForNodes } from "../api-writes/wait-for-nodes.js";
import { counted } from "../output/counts.js";
import { reportFailure } from "../output/failure.js";
import { jsonText } from "../output/json-text.js";
import { isInTheWay, troubleLine } from "../output/messages/trouble-line.js";
import { tell } from "../output/screen/told.js";
import { paintOf, type Terminal } from "../output/terminal.js";
import { exitStatus } from "../process/exit-status.js";
import { allIsWell, type FleetLook } from "../top/fleet-look.js";
import { sourceTroubles } from "../top/source-troubles.js";

export interface WaitOptions {
  readonly server: ApiServer;
  readonly output: "text" | "json";
  /** Undefined: all that there is for each node. */
  readonly revision: string | undefined;
  readonly wait: WaitFor;
  /** Milliseconds. */
  readonly timeout: number;
}

/** Waits until nodes run a revision, or all that there is. Resolves to the exit status. */
export function runWait(options: WaitOptions, terminal: Terminal): Promise<number> {
  const { revision } = options;
  return withServer("wait", options, terminal, (client) =>
    revision === undefined ? forAll(client, options, terminal) : forRevision(client, revision, options, terminal),
  );
}

async function forRevision(
  client: ApiClient,
  text: string,
  { wait, timeout, output }: WaitOptions,
  terminal: Terminal,
): Promise<number> {
  const revision = await findRevision(client, text);
  const { result, arrival, problem } = await waitForNodes(client, revision.id, wait, timeout);
  if (output === "json") terminal.out(jsonText({ revision, result, arrival: arrival ?? null }));
  else if (arrival !== undefined) tell(terminal, arrivalText({ result, arrival }, timeout, paintOf(terminal, "out")));
  if (problem !== undefined) reportFailure(terminal, "wait", problem);
  return result === "acknowledged" ? exitStatus.ok : exitStatus.failed;
}

const pauseMs = 500;
/** A rejection that the next change ends at once is not the end of the wait. */
const rejectedMs = 2_000;

/** What one look at the server found. */
type FleetState = Pick<FleetLook, "summary" | "troubles">;

/**
 * Ends once two looks in a row find all nodes synced: a file that was just saved is read, and its change published, in
 * between. A server tells of one look for a while, also of one from before the wait. A server that is away is asked
 * again.
 */
async function forAll(client: ApiClient, { timeout, output }: WaitOptions, terminal: Terminal): Promise<number> {
  const end = performance.now() + timeout;
  let found: FleetState | undefined;
  let problem: ApiError | undefined;
  /** When the nodes were synced. */
  let syncedAsOf: string | undefined;
  let wrongSince: number | undefined;
  for (;;) {
    const now = performance.now();
    try {
      found = await look(client);
      problem = undefined;
      const { asOf } = found.summary;
      if (!allIsWell(found)) syncedAsOf = undefined;
      else if (syncedAsOf !== undefined && syncedAsOf !== asOf) return report("synced");
      else syncedAsOf = asOf;
      const isWrong = found.summary.states.rejected > 0 || found.troubles.length > 0;
      wrongSince = isWrong ? (wrongSince ?? now) : undefined;
      if (wrongSince !== undefined && now - wrongSince > rejectedMs) return report("rejected");
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      problem = error;
      syncedAsOf = undefined;
    }
    const leftMs = end - performance.now();
    if (leftMs <= 0) return report("timeout");
    await delay(Math.min(pauseMs, leftMs));
  }

  function report(result: "synced" | "rejected" | "timeout"): number {
    if (output === "json") terminal.out(jsonText({ result, states: found?.summary.states ?? null }));
    else if (found !== undefined) tell(terminal, lookText(found));
    if (problem !== undefined) reportFailure(terminal, "wait", problem);
    else if (result === "timeout")
      reportFailure(terminal, "wait", `not all nodes are synced after ${timeout / 1000} s`);
    return result === "synced" ? exitStatus.ok : exitStatus.failed;
  }
}

async function look(client: ApiClient): Promise<FleetState> {
  const [summary, { sources }] = await Promise.all([
    client.get("/api/v1/fleet/summary"),
    client.get("/api/v1/sources"),
  ]);
  return { summary, troubles: sourceTroubles(sources, summary.silent).filter(isInTheWay) };
}

function lookText({ summary: { nodes, states }, troubles }: FleetState): string {
  const others = Object.entries(states).filter(([state, count]) => state !== "synced" && count > 0);
  const said = others.map(([state, count]) => `, ${count} ${state}`).join("");
  const lines = troubles.map((trouble) => `${troubleLine(trouble)}\n`);
  return `${states.synced} of ${counted(nodes, "node")} synced${said}\n${lines.join("")}`;
}
