import type { Source } from "../contracts/source.js";

/** See `Source.catchUp`, for all sources. Undefined: nobody else writes. */
export function catchUpAll(sources: Iterable<Source>): Promise<void> | undefined {
  const own = [...sources].flatMap((source) => source.catchUp?.() ?? []);
  return own.length === 0 ? undefined : Promise.all(own).then(() => {});
}
