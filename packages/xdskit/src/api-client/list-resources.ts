import { withFurther } from "./all-pages.js";
import type { ApiClient } from "./api-client.js";
import type { LayerResource, LayerResources } from "./api-types.js";
import { layerPath } from "./layer-path.js";

/** A server gives this many revisions or resources at once. */
export const pageSize = 1_000;

/** Lists all that a layer holds, page by page. */
export async function listResources(client: ApiClient, layer: string): Promise<readonly LayerResource[]> {
  const get = (after?: string) => {
    const query = new URLSearchParams({ limit: String(pageSize), ...(after === undefined ? {} : { after }) });
    return client.get<LayerResources>(`${layerPath(layer)}/resources?${query}`);
  };
  return await withFurther(await get(), get, ({ resources }) => resources);
}
