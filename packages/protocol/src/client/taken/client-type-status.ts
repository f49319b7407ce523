import { canonicalName } from "@xdskit/api";
import type { ClientTypeStatus } from "../contract/contract.js";
import type { ClaimedVersion } from "../current/claimed-version.js";
import type { KnownOfType } from "./response-taking.js";

/** `isAnswered`: no response waits for its answer. */
export function clientTypeStatus(
  { type, wanted, current, rejections }: KnownOfType,
  { version, isWhole }: ClaimedVersion,
  isAnswered: boolean,
): ClientTypeStatus {
  return {
    type,
    wildcard: wanted.isWildcard,
    names: wanted.asked(),
    version: version === "" ? undefined : version,
    isWhole: isWhole && isAnswered,
    resources: current.resources,
    updatedAt: (name) => current.find(canonicalName(name))?.at,
    rejection: (name) => rejections.get(name === undefined ? undefined : canonicalName(name)),
    states: (name) => {
      const key = canonicalName(name);
      if (rejections.get(key) !== undefined) return "rejected";
      return wanted.stateOf(key) ?? (current.find(key) === undefined ? "absent" : "current");
    },
  };
}
