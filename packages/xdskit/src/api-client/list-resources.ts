import { withFurther } from "./all-pages.js";
import type { ApiClient } from "./api-client.js";
import type { LayerResource } from "./api-types.js";

/** A server gives this many revisions or resources at once. */
export const pageSize = 1_000;

/** Lists all that a layer holds, page by page. */
export async function listResources(client: ApiClient, layer: string): Promise<readonly LayerResource[]> {
  const get = (after?: string) =>
    client.get("/api/v1/layers/{layer}/resources", { at: { layer }, query: { limit: pageSize, after } });
  return await withFurther(await get(), get, ({ resources }) => resources);
}
