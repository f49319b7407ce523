import { type Finding, type Resource, XdskitError } from "@xdskit/api";
import type { LayerName } from "../settings/group-settings.js";

/** Who still names a resource that a refused change would take away. */
export interface Referrer {
  /** The layer that has it after the change. */
  readonly layer: LayerName;
  readonly resource: Resource;
}

/**
 * A change was refused, since it would take resources away that others still name (`references: "refuse"`). The first
 * findings are about `referrers`, in their order, for those who know in which file a layer's resource is.
 */
export class ReferencesBroken extends XdskitError {
  readonly referrers: readonly Referrer[];

  constructor(findings: readonly [Finding, ...Finding[]], referrers: readonly Referrer[]) {
    super(findings);
    this.referrers = referrers;
  }
}
