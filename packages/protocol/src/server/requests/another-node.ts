import type { Node } from "../../model/basics/node.js";

/**
 * Whether a node that was named later is another than the first of its stream. A client may leave fields out once it
 * has said them.
 */
export function isAnotherNode(node: Node, later: Node | undefined): boolean {
  if (later === undefined) return false;
  return (later.id !== "" && later.id !== node.id) || (later.cluster !== "" && later.cluster !== node.cluster);
}

/** The answer to a request that names another node than the first one of its stream. */
export const anotherNode = "this caller may not be this node";
