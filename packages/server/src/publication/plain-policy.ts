import type { GroupPolicy, TargetPolicy } from "../contracts/parts/target-policy.js";

const group: GroupPolicy = { isPlain: true, join: () => ({ snapshot: (newest) => newest }) };

/** Every member gets the newest snapshot. */
export const plainPolicy: TargetPolicy = { open: () => group };
