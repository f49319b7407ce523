import type { Node } from "@xdskit/protocol";
import type { SupplyRequest } from "../../settings/on-demand-options.js";
import type { SupplierLease } from "./lease.js";

/** What the supplier is told of a call: who asks for what, and how it can go on with its answer. */
export function supplyRequestOf(lease: SupplierLease, node: Node, group: string): SupplyRequest {
  const { type, name } = lease;
  return {
    type,
    name,
    group,
    node,
    get signal() {
      return lease.signal;
    },
    onEnd: (call) => lease.onEnd(call),
    update: (supplied) => lease.update(supplied),
    lease,
  };
}
