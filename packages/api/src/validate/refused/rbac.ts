import type { SpecialProblem } from "../special-checks.js";
import { type CidrRange, cidrProblem } from "./cidr-ranges.js";
import { refused } from "./problem.js";

interface Choice {
  readonly case?: string | undefined;
  readonly value?: unknown;
}

const sources: { readonly [localName: string]: string } = {
  sourceIp: "source_ip",
  directRemoteIp: "direct_remote_ip",
  remoteIp: "remote_ip",
};

/** Addresses from which somebody comes. */
export function principalProblems({ identifier }: { readonly identifier: Choice }): SpecialProblem[] {
  const field = sources[identifier.case ?? ""];
  return field === undefined ? [] : cidrProblem(identifier.value as CidrRange, [field]);
}

/** Addresses and ports to which somebody may go. */
export function permissionProblems({ rule }: { readonly rule: Choice }): SpecialProblem[] {
  if (rule.case === "destinationIp") return cidrProblem(rule.value as CidrRange, ["destination_ip"]);
  if (rule.case !== "destinationPortRange") return [];
  const { start, end } = rule.value as { readonly start: number; readonly end: number };
  if (start < end) return [];
  return [refused(["destination_port_range"], `must end above its start, ${start}: its end, ${end}, is not in it`)];
}
