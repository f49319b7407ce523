import type { ResourceName, TypeUrl } from "../names/identifiers.js";

/** One resource names another: a route its cluster, a cluster its load assignment. */
export interface Reference {
  /** The v3 type URL of the named resource. */
  readonly type: TypeUrl;
  /**
   * A canonical name, or a collection, which ends with `*` and means every name with that prefix: the virtual hosts
   * `<route configuration>/*` of VHDS, the glob `xdstp://…/*` of LEDS, all (`*`) of SRDS. `refersTo` decides.
   */
  readonly name: ResourceName;
}
