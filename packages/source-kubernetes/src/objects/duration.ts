const units: Readonly<Record<string, number>> = { h: 3_600_000, m: 60_000, s: 1_000, ms: 1 };

/** Durations as the Gateway API has them (GEP-2257), and Go: also `1.5s`. Whole milliseconds; undefined: it is none. */
export function durationMs(text: string): number | undefined {
  if (!/^(\d{1,6}(\.\d{1,6})?(h|m|s|ms)){1,4}$/.test(text)) return undefined;
  const parts = text.matchAll(/([\d.]+)(ms|h|m|s)/g);
  const all = Array.from(parts, ([, number, unit = ""]) => Number(number) * (units[unit] ?? 0));
  return Math.round(all.reduce((a, b) => a + b, 0));
}
