import { XdskitError } from "@xdskit/api";
import { reportFailure } from "../output/failure.js";
import { paintOf, type Terminal } from "../output/terminal.js";
import { exitStatus } from "../process/exit-status.js";
import { firstWithin } from "../process/first-within.js";
import { listenForStop } from "../process/signals.js";
import { GeneratorLoad } from "./figures/generator-load.js";
import type { BenchOptions } from "./fleet/bench-options.js";
import { tooManyConnections } from "./fleet/file-limit.js";
import { Fleet } from "./fleet/fleet.js";
import { readInterests } from "./fleet/interests.js";
import { createProgress } from "./progress.js";
import { isGood, reportOf } from "./report.js";
import { reportText } from "./report-text.js";

/** The time between cuts of connections, in milliseconds. */
const churnStepMs = 100;

/**
 * Runs a fleet of nodes until its time is over or a signal comes, and prints the report; resolves to the exit status.
 */
export async function runBench(options: BenchOptions, terminal: Terminal): Promise<number> {
  const signals = listenForStop();
  let fleet: Fleet | undefined;
  try {
    const problem = tooManyConnections(Math.ceil(options.nodes / options.nodesPerConnection));
    if (problem !== undefined) throw XdskitError.of("XDSKIT_CLIENT_OPTION", problem);
    const interests = readInterests(options);
    const generator = new GeneratorLoad();
    fleet = new Fleet(options, interests);
    await fleet.check();
    const progress = createProgress(terminal, fleet, options);
    const stopped = Promise.race([signals.stop, ...(terminal.closed === undefined ? [] : [terminal.closed])]);
    fleet.allComplete.then(progress.show);
    const facts = await play(fleet, options, stopped);
    progress.end();
    const types = interests.map(({ type }) => type.name);
    const load = generator.report(fleet.tally.received.messages);
    const report = reportOf(fleet, options, types, { ...facts, generator: load });
    terminal.out(
      options.json ? `${JSON.stringify(report, undefined, 2)}\n` : reportText(report, paintOf(terminal, "out")),
    );
    return isGood(report) ? exitStatus.ok : exitStatus.failed;
  } catch (error) {
    if (!(error instanceof XdskitError)) throw error;
    reportFailure(terminal, "bench", error);
    return exitStatus.usage;
  } finally {
    fleet?.close();
    signals.release();
  }
}

/** Connects all nodes, waits until they hold everything, and applies churn, stalls and rejections. */
async function play(fleet: Fleet, options: BenchOptions, stopped: Promise<unknown>) {
  const begin = performance.now();
  fleet.start();
  let ended: "done" | "stopped" = "done";
  const until = async (ms: number, end?: Promise<void>) => {
    const how = await firstWithin<unknown>(ms, [stopped.then(() => "stopped"), end]);
    if (how === "stopped") ended = "stopped";
  };
  await until(options.timeout, fleet.allComplete);
  const steadyFrom = performance.now();
  let steadyMs = 0;
  let stalled = 0;
  // A fleet that got nothing has nothing more to show.
  if (ended === "done" && fleet.complete > 0) {
    const stopChurn = churning(fleet, options);
    const end = performance.now() + options.duration;
    if (options.stall > 0) {
      stalled = fleet.stall(false);
      await until(Math.min(options.stallFor, options.duration));
      fleet.stall(true);
    }
    if (ended === "done") await until(Math.max(0, end - performance.now()));
    stopChurn();
    steadyMs = performance.now() - steadyFrom;
  }
  return { steadyMs, totalMs: performance.now() - begin, ended, stalled };
}

function churning(fleet: Fleet, { churn, nodes }: BenchOptions): () => void {
  if (churn === 0) return () => {};
  let last = performance.now();
  let due = 0;
  const timer = setInterval(() => {
    const now = performance.now();
    due += churn * nodes * ((now - last) / 1_000);
    last = now;
    const wanted = Math.floor(due);
    // All nodes of a connection reconnect together, so the next cut comes later.
    if (wanted > 0) due -= Math.max(wanted, fleet.churn(wanted));
  }, churnStepMs);
  return () => clearInterval(timer);
}
