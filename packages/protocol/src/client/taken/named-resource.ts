import type { ResourceName } from "@xdskit/api";
import type { SentResource } from "../../wire/responses/read-response.js";

/** A resource of a response that was read only as far as its name. */
export interface NamedResource {
  /** Its place in the response. */
  readonly index: number;
  readonly key: ResourceName;
  readonly name: ResourceName;
  readonly sent: SentResource;
}
