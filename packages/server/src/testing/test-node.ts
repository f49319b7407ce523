import type { Node } from "@xdskit/protocol";

/** A node with the given parts. */
export function testNode(parts: Partial<Node> = {}): Node {
  return {
    id: "node",
    cluster: "",
    locality: { region: "", zone: "", subZone: "" },
    metadata: {},
    userAgentName: "",
    userAgentVersion: "",
    clientFeatures: [],
    ...parts,
  };
}
