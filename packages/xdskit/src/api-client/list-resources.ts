import { withFurther } from "./all-pages.js";
import type { ApiClient } from "./api-client.js";
import type { ResourceView } from "./api-types.js";
import { layerPath } from "./layer-path.js";

/** A resource of a layer. */
export interface ListedResource {
  /** The type URL. */
  readonly type: string;
  readonly name: string;
  /** Only of a variant. */
  readonly key?: string;
  readonly version: string;
  readonly resource: ResourceView;
}

/** A server gives this many revisions or resources at once. */
export const pageSize = 1_000;

/** Lists all that a layer holds, page by page. */
export async function listResources(client: ApiClient, layer: string): Promise<readonly ListedResource[]> {
  const get = (after?: string) => {
    const query = new URLSearchParams({ limit: String(pageSize), ...(after === undefined ? {} : { after }) });
    return client.get<{ readonly resources: readonly ListedResource[]; readonly next?: string }>(
      `${layerPath(layer)}/resources?${query}`,
    );
  };
  return await withFurther(await get(), get, ({ resources }) => resources);
}
