import { type Finding, type Resource, XdskitError } from "@xdskit/api";
import type { LayerName } from "../settings/group-settings.js";

/** A resource that still names one which a refused change would remove. */
export interface Referrer {
  /** The layer that has it after the change. */
  readonly layer: LayerName;
  readonly resource: Resource;
}

/**
 * A change was refused because it would remove resources that others still name (`references: "refuse"`). The first
 * findings are about `referrers`, in their order, for callers that know the files of a layer's resources.
 */
export class ReferencesBroken extends XdskitError {
  readonly referrers: readonly Referrer[];

  constructor(findings: readonly [Finding, ...Finding[]], referrers: readonly Referrer[]) {
    super(findings);
    this.referrers = referrers;
  }
}
