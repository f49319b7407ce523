/**
 * How much random tests play, in multiples of the suite's normal amount. `npm run test:long` plays fifty times as much.
 */
export const effort = Number(process.env.EFFORT ?? 1);

/** That many of the suite's runs, in multiples of the effort; at least one. */
export const times = (runs: number): number => Math.max(1, Math.round(runs * effort));
