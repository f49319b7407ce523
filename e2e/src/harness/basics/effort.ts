import { envoys } from "./peers.js";
import { variants } from "./resources.js";

/** `EFFORT=10`, as in `npm run test:long`, plays what the suite leaves out for its time. */
export const isLong = Number(process.env.EFFORT ?? 1) > 3;

/** Two variants of the protocol that have both of each choice; all four in long tests. */
export const someVariants = isLong ? variants : (["ads-delta", "per-type-sotw"] as const);

/** The newest Envoy and the oldest one; all five in long tests. */
export const someEnvoys = isLong ? envoys : (["envoy", "envoy-1.36"] as const);
