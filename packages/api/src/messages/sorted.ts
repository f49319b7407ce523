type PlainRecord = { readonly [key: string]: unknown };

/**
 * A record with sorted keys; the same one if they are sorted already. (JavaScript puts keys that look like small
 * integers first, ascending. The order is then not alphabetical, but still the same for the same keys.)
 */
export function sortedRecord(record: PlainRecord): PlainRecord {
  const keys = Object.keys(record);
  if (keys.length < 2) return record;
  // `fromEntries` defines properties, so it keeps even the key `__proto__`.
  const sorted = Object.fromEntries([...keys].sort(byCodeUnits).map((key) => [key, record[key]]));
  return Object.keys(sorted).every((key, index) => key === keys[index]) ? record : sorted;
}

/** JSON with sorted keys in all objects. Shares parts that are sorted already. */
export function sortedJson(value: unknown): unknown {
  if (Array.isArray(value)) return mapList(value, sortedJson);
  if (typeof value !== "object" || value === null) return value;
  return mapRecord(sortedRecord(value as PlainRecord), sortedJson);
}

/** `list.map(one)`, but the same list if no item changes. */
export function mapList(list: readonly unknown[], one: (item: unknown) => unknown): readonly unknown[] {
  let copy: unknown[] | undefined;
  for (let index = 0; index < list.length; index++) {
    const item = list[index];
    const after = one(item);
    if (after === item) continue;
    copy ??= [...list];
    copy[index] = after;
  }
  return copy ?? list;
}

/** Like `mapList`, for the values of a record. */
export function mapRecord(record: PlainRecord, one: (item: unknown) => unknown): PlainRecord {
  const entries = Object.entries(record);
  let isChanged = false;
  for (const entry of entries) {
    const after = one(entry[1]);
    if (after === entry[1]) continue;
    entry[1] = after;
    isChanged = true;
  }
  return isChanged ? Object.fromEntries(entries) : record;
}

function byCodeUnits(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
