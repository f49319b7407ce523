import { firstWithin, XdskitError } from "@xdskit/api";
import { GeneratorLoad } from "./figures/generator-load.js";
import { tooManyConnections } from "./fleet/file-limit.js";
import { Fleet } from "./fleet/fleet.js";
import type { FleetOptions } from "./fleet/fleet-options.js";
import { readInterests } from "./fleet/interests.js";
import { type BenchReport, reportOf } from "./report.js";

/** The time between cuts of connections, in milliseconds. */
const churnStepMs = 100;

/** A fleet that connects once it is played. */
export interface PreparedFleet {
  readonly fleet: Fleet;
  /** Plays it once, until its time is over or the promise resolves, and reports. The caller closes the fleet. */
  play(stopped: Promise<unknown>): Promise<BenchReport>;
}

/**
 * Builds a fleet, and reads its credentials. Rejects with an XdskitError: XDSKIT_CLIENT_OPTION and
 * XDSKIT_TYPE_NAME_UNKNOWN for what cannot be asked for, XDSKIT_CREDENTIALS and XDSKIT_CREDENTIALS_FILE.
 */
export async function prepareFleet(options: FleetOptions): Promise<PreparedFleet> {
  const problem = tooManyConnections(Math.ceil(options.nodes / options.nodesPerConnection));
  if (problem !== undefined) throw XdskitError.of("XDSKIT_CLIENT_OPTION", problem);
  const interests = readInterests(options);
  const generator = new GeneratorLoad();
  const fleet = new Fleet(options, interests);
  await fleet.check();
  return {
    fleet,
    async play(stopped) {
      const facts = await play(fleet, options, stopped);
      const types = interests.map(({ type }) => type.name);
      const load = generator.end(fleet.tally.received.messages);
      return reportOf(fleet, options, types, { ...facts, generator: load });
    },
  };
}

/** Connects all nodes, waits until they hold everything, and applies churn, stalls and rejections. */
async function play(fleet: Fleet, options: FleetOptions, stopped: Promise<unknown>) {
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

function churning(fleet: Fleet, { churn, nodes }: FleetOptions): () => void {
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
