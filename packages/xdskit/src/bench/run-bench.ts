import { isGood, type PreparedFleet, prepareFleet } from "@xdskit/fleet";
import { inputFailure } from "../output/failure.js";
import { jsonText } from "../output/json-text.js";
import { tell } from "../output/screen/told.js";
import { paintOf, type Terminal } from "../output/terminal.js";
import { exitStatus } from "../process/exit-status.js";
import { listenForStop } from "../process/signals.js";
import { version } from "../process/version.js";
import { tlsOf } from "../settings/options/tls-options.js";
import type { BenchOptions } from "./bench-options.js";
import { createProgress } from "./progress.js";
import { reportText } from "./report-text.js";

/**
 * Runs a fleet of nodes until its time is over or a signal comes, and prints the report; resolves to the exit status.
 */
export async function runBench(options: BenchOptions, terminal: Terminal): Promise<number> {
  const signals = listenForStop();
  let prepared: PreparedFleet | undefined;
  try {
    prepared = await prepareFleet({ ...options, tls: tlsOf(options), userAgent: `xdskit-bench/${version}` });
    const { fleet, play } = prepared;
    const progress = createProgress(terminal, fleet);
    const stopped = Promise.race([signals.stop, ...(terminal.closed === undefined ? [] : [terminal.closed])]);
    fleet.allComplete.then(progress.show);
    const report = await play(stopped);
    progress.end();
    if (options.json) terminal.out(jsonText(report));
    else tell(terminal, reportText(report, paintOf(terminal, "out")));
    return isGood(report) ? exitStatus.ok : exitStatus.failed;
  } catch (error) {
    return inputFailure(terminal, "bench", error);
  } finally {
    prepared?.fleet.close();
    signals.release();
  }
}
