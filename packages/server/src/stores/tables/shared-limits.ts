import { maxSharedValue } from "../../contracts/stores/shared-keys.js";

/** Throws a RangeError for what `SharedKeys` does not take: the caller is at fault. */
export function checkShared(key: string, value: string): void {
  if (!/^[A-Za-z0-9/_-]{1,90}$/.test(key)) throw new RangeError(`${JSON.stringify(key)} is no key of a shared value`);
  if (value.length <= maxSharedValue) return;
  throw new RangeError(`the value of ${key} is longer than ${maxSharedValue} characters`);
}
