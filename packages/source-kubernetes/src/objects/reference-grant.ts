import type { ObjectShape } from "./object-shape.js";

/** Allows routes of other namespaces to name Services of its own. */
export interface ReferenceGrant {
  readonly namespace: string;
  readonly from: readonly { readonly group: string; readonly kind: string; readonly namespace: string }[];
  /** Without a name: all of the kind. */
  readonly to: readonly { readonly group: string; readonly kind: string; readonly name?: string }[];
}

interface GrantShape extends ObjectShape {
  readonly spec?: Partial<Pick<ReferenceGrant, "from" | "to">>;
}

/** Reads a ReferenceGrant, as the API server writes it. */
export function readReferenceGrant(object: ObjectShape): ReferenceGrant {
  const { metadata = {}, spec = {} } = object as GrantShape;
  return { namespace: metadata.namespace ?? "", from: spec.from ?? [], to: spec.to ?? [] };
}
