import type { Source } from "../contracts/source.js";

/** See `Source.catchUp`, for all of these. Undefined: nobody else writes. */
export function catchUpAll(each: Iterable<Pick<Source, "catchUp">>): Promise<void> | undefined {
  return allOf([...each].map((one) => one.catchUp?.()));
}

/** Resolves once all of them have; undefined: there is nothing to wait for. */
export function allOf(waits: readonly (Promise<void> | undefined)[]): Promise<void> | undefined {
  return waits.every((wait) => wait === undefined) ? undefined : Promise.all(waits).then(() => {});
}
