import type { ResourceName } from "@xdskit/api";
import type { SentResource } from "../../wire/responses/read-response.js";

/** A resource of a response, of which the name is known and nothing else was looked at. */
export interface NamedResource {
  /** Its place in the response. */
  readonly index: number;
  readonly key: ResourceName;
  readonly name: ResourceName;
  readonly sent: SentResource;
}
