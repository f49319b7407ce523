import type { CidrRange } from "@xdskit/api/envoy/config/core/v3/address";
import type { Permission, Principal } from "@xdskit/api/envoy/config/rbac/v3/rbac";
import { cidrProblem } from "../cidr-ranges.js";
import type { SpecialProblem } from "../problem.js";
import { none, refused, within } from "../problem.js";

const sources: { readonly [localName: string]: string } = {
  sourceIp: "source_ip",
  directRemoteIp: "direct_remote_ip",
  remoteIp: "remote_ip",
};

/** Source addresses. */
export function principalProblems({ identifier }: Principal): readonly SpecialProblem[] {
  const field = sources[identifier.case ?? ""];
  return field === undefined ? none : within(cidrProblem(identifier.value as CidrRange), field);
}

/** Destination addresses and ports. */
export function permissionProblems({ rule }: Permission): readonly SpecialProblem[] {
  if (rule.case === "destinationIp") return within(cidrProblem(rule.value), "destination_ip");
  if (rule.case !== "destinationPortRange") return none;
  const { start, end } = rule.value;
  if (start < end) return none;
  return [refused(["destination_port_range"], `must end above its start (${start}): its end (${end}) is exclusive`)];
}
