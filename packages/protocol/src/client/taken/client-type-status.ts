import { canonicalName } from "@xdskit/api";
import type { ClientTypeStatus } from "../contract/contract.js";
import type { ClaimedVersion } from "../held/claimed-version.js";
import type { KnownOfType } from "./response-taking.js";

/** `isAnswered`: no response waits for its answer. */
export function clientTypeStatus(
  { type, wanted, held, rejections }: KnownOfType,
  { version, isWhole }: ClaimedVersion,
  isAnswered: boolean,
): ClientTypeStatus {
  return {
    type,
    wildcard: wanted.isWildcard,
    names: wanted.asked(),
    version: version === "" ? undefined : version,
    isWhole: isWhole && isAnswered,
    resources: held.resources,
    updatedAt: (name) => held.find(canonicalName(name))?.at,
    rejection: (name) => rejections.get(name === undefined ? undefined : canonicalName(name)),
    states: (name) => {
      const key = canonicalName(name);
      if (rejections.get(key) !== undefined) return "rejected";
      return wanted.stateOf(key) ?? (held.find(key) === undefined ? "absent" : "held");
    },
  };
}
