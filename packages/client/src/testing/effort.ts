/**
 * How much random tests play, in multiples of the suite's normal amount. `npm run test:long` plays fifty times as much.
 */
export const effort = Number(process.env.EFFORT ?? 1);
