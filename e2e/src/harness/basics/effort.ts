import type { PeerName } from "./peers.js";
import { variants } from "./resources.js";

/** `EFFORT=10`, as in `npm run test:long`, plays what the suite leaves out for its time. */
export const isLong = Number(process.env.EFFORT ?? 1) > 3;

/** Two variants of the protocol that have both of each choice; all four in long tests. */
export const someVariants = isLong ? variants : (["ads-delta", "per-type-sotw"] as const);

const envoys = ["envoy", "envoy-1.39", "envoy-1.38", "envoy-1.37", "envoy-1.36"] as const satisfies readonly PeerName[];

/** The newest Envoy and the oldest one; all five in long tests. */
export const someEnvoys: readonly (typeof envoys)[number][] = isLong ? envoys : ["envoy", "envoy-1.36"];
