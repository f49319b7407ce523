import { type Finding, XdskitError } from "@xdskit/api";
import type { Referrer } from "./references-broken.js";

/**
 * A change was refused because two listeners of a group would have one address (`addresses: "refuse"`). The first
 * findings are about `listeners`, in their order, for callers that know the files of a layer's resources.
 */
export class AddressesShared extends XdskitError {
  readonly listeners: readonly Referrer[];

  constructor(findings: readonly [Finding, ...Finding[]], listeners: readonly Referrer[]) {
    super(findings);
    this.listeners = listeners;
  }
}
