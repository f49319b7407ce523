import type { CidrRange } from "@xdskit/api/envoy/config/core/v3/address";
import { isIpv4 } from "../values/ip-address.js";
import { isNumericAddress } from "./addresses.js";
import type { SpecialProblem } from "./problem.js";
import { none, quoted, refused, within } from "./problem.js";

/** Problems of the address ranges of a field. */
export function cidrProblems(ranges: readonly CidrRange[], field: string): readonly SpecialProblem[] {
  return ranges.flatMap((range, index) => within(cidrProblem(range), field, index));
}

/** Problems of one range. A prefix longer than the address means the whole address. */
export function cidrProblem({ addressPrefix }: CidrRange): readonly SpecialProblem[] {
  if (isNumericAddress(addressPrefix)) return none;
  return [refused(["address_prefix"], `must be an IP address without a length, not ${quoted(addressPrefix)}`)];
}

/**
 * The same text for ranges of the same addresses: bits after the prefix do not count. A whole address keeps its zone.
 */
export function canonicalRange({ addressPrefix, prefixLen = 0 }: CidrRange): string {
  const bits = bitsOf(addressPrefix);
  const zone = prefixLen >= bits.length ? addressPrefix.indexOf("%") : -1;
  return `${bits.length}:${bits.slice(0, prefixLen)}${zone < 0 ? "" : addressPrefix.slice(zone)}`;
}

/** An address as zeros and ones. */
function bitsOf(address: string): string {
  if (isIpv4(address)) return address.split(".").map(byteBits).join("");
  const [first = "", second] = (address.split("%")[0] ?? "").split("::");
  const before = groupBits(first);
  const after = groupBits(second ?? "");
  return before + "0".repeat(Math.max(0, 128 - before.length - after.length)) + after;
}

function groupBits(groups: string): string {
  if (groups === "") return "";
  return groups
    .split(":")
    .map((group) =>
      group.includes(".")
        ? group.split(".").map(byteBits).join("")
        : Number.parseInt(group, 16).toString(2).padStart(16, "0"),
    )
    .join("");
}

function byteBits(byte: string): string {
  return Number(byte).toString(2).padStart(8, "0");
}
