/** The sum of a metric's samples whose labels include all of these, as `/metrics` shows it; 0 when there are none. */
export async function metric(
  admin: string,
  name: string,
  labels: Readonly<Record<string, string>> = {},
): Promise<number> {
  const response = await fetch(`http://${admin}/metrics`, { signal: AbortSignal.timeout(20_000) });
  if (!response.ok) throw new Error(`/metrics: status ${response.status}`);
  const wanted = Object.entries(labels).map(([key, value]) => `${key}="${value}"`);
  let sum = 0;
  for (const line of (await response.text()).split("\n")) {
    const [, found, has = "", value] = /^([a-zA-Z_:]+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
    if (found === name && wanted.every((label) => has.split(",").includes(label))) sum += Number(value);
  }
  return sum;
}
