// A fleet of simulated clients in one process, which measures the server that they connect to.
export type { ChangesReport } from "./figures/changes.js";
export type { GeneratorReport } from "./figures/generator-load.js";
export type { FigureSpread } from "./figures/spread.js";
export type { ErrorReport } from "./figures/tally.js";
export type { Fleet } from "./fleet/fleet.js";
export type { FleetOptions } from "./fleet/fleet-options.js";
export { type PreparedFleet, prepareFleet } from "./prepare-fleet.js";
export { type BenchReport, isGood, type ResourceCountReport as ResourceReport, type WaitingReport } from "./report.js";
