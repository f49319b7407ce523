/** The length of random tests, in multiples of the suite's. `npm run test:long` plays fifty times as long. */
export const effort = Number(process.env.EFFORT ?? 1);

/** That many of the suite's runs, in multiples of the effort; at least one. */
export const times = (runs: number): number => Math.max(1, Math.round(runs * effort));
