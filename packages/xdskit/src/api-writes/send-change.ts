import { postChange } from "../api-client/all-pages.js";
import type { ApiClient } from "../api-client/api-client.js";
import type { ChangeAnswer, ChangeRequest } from "../api-client/api-types.js";
import { userName } from "../process/user-name.js";

/**
 * Sends a change of a layer, with who sends it; resolves to all that it changes. Rejects with an ApiError. `expected`:
 * the head that the layer must have, null for none; undefined: whatever it has.
 */
export function sendChange(
  client: ApiClient,
  layer: string,
  change: ChangeRequest,
  expected?: string | null,
): Promise<ChangeAnswer> {
  return postChange(client, "/api/v1/layers/{layer}/changes", layer, { author: userName(), ...change }, expected);
}
