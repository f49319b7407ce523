/**
 * The length of random tests, in multiples of the suite's. `npm run test:long` plays fifty times as long.
 */
export const effort = Number(process.env.EFFORT ?? 1);
