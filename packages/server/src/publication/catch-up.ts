import type { Source } from "../contracts/source.js";

/** See `Source.catchUp`, for all of these. Undefined: nobody else writes. */
export function catchUpAll(each: Iterable<Pick<Source, "catchUp">>): Promise<void> | undefined {
  const own = [...each].flatMap((one) => one.catchUp?.() ?? []);
  return own.length === 0 ? undefined : Promise.all(own).then(() => {});
}
