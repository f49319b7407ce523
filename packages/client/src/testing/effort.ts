/** How much random tests play, in multiples of what the suite plays. `npm run test:long` plays fifty times as much. */
export const effort = Number(process.env.EFFORT ?? 1);
