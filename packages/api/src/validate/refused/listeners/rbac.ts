import { type CidrRange, cidrProblem } from "../cidr-ranges.js";
import type { SpecialProblem } from "../problem.js";
import { none, refused, within } from "../problem.js";

interface Choice {
  readonly case?: string | undefined;
  readonly value?: unknown;
}

const sources: { readonly [localName: string]: string } = {
  sourceIp: "source_ip",
  directRemoteIp: "direct_remote_ip",
  remoteIp: "remote_ip",
};

/** Source addresses. */
export function principalProblems({ identifier }: { readonly identifier: Choice }): readonly SpecialProblem[] {
  const field = sources[identifier.case ?? ""];
  return field === undefined ? none : within(cidrProblem(identifier.value as CidrRange), field);
}

/** Destination addresses and ports. */
export function permissionProblems({ rule }: { readonly rule: Choice }): readonly SpecialProblem[] {
  if (rule.case === "destinationIp") return within(cidrProblem(rule.value as CidrRange), "destination_ip");
  if (rule.case !== "destinationPortRange") return none;
  const { start, end } = rule.value as { readonly start: number; readonly end: number };
  if (start < end) return none;
  return [refused(["destination_port_range"], `must end above its start (${start}): its end (${end}) is exclusive`)];
}
