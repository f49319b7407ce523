/** The longest value that servers share, in characters: etcd takes 1.5 MiB in a request. */
const mostValue = 512_000;

/** Throws a RangeError for what `SharedKeys` does not take: the caller is at fault. */
export function checkShared(key: string, value: string): void {
  if (!/^[A-Za-z0-9/_-]{1,90}$/.test(key)) throw new RangeError(`${JSON.stringify(key)} is no key of a shared value`);
  if (value.length > mostValue) throw new RangeError(`the value of ${key} is longer than ${mostValue} characters`);
}
