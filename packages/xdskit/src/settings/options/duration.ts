const milliseconds = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** Reads `500ms`, `1.5s`, `2m`, `1h` or `90d` as milliseconds; undefined if it is not a duration. */
export function parseDuration(text: string): number | undefined {
  const parts = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/.exec(text);
  if (parts === null) return undefined;
  return Math.round(Number(parts[1]) * milliseconds[parts[2] as keyof typeof milliseconds]);
}
