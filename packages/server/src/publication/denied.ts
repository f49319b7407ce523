import { type Node, statusCode } from "@xdskit/protocol";
import type { Groups } from "../configuration/groups.js";
import type { Refusal } from "../contracts/transport.js";
import { type Caller, notThisNode } from "../identity/caller.js";

/** Why a caller is not let in as this node, if so. It learns nothing of nodes and groups that are not its own. */
export function denied(caller: Caller, node: Node, groups: Groups): Refusal | undefined {
  if (!caller.isRestricted) return undefined;
  const { groups: only } = caller;
  if (caller.mayBe(node) && (only === undefined || groups.of(node, only) !== undefined)) return undefined;
  caller.claimed(node);
  return { code: statusCode.permissionDenied, message: notThisNode };
}
