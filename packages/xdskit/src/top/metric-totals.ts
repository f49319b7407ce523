/** Counters of a server, of all its processes together, at one moment. */
export interface MetricTotals {
  /** By `performance.now()`. */
  readonly at: number;
  readonly pushes: number;
  /** Of the time from publication to ACK: how many were at most this many seconds, by bound. */
  readonly lags: ReadonlyMap<number, number>;
}

/** What happened between two moments. */
export interface MetricRates {
  readonly pushesPerSecond: number;
  /** In milliseconds; null: nothing was acknowledged. */
  readonly lag: { readonly p50Ms: number; readonly p99Ms: number } | null;
}

const pushes = "xdskit_responses_total";
const lagBucket = "xdskit_publish_to_ack_seconds_bucket";

/** Adds up what a page of metrics says, over types, groups and processes. */
export function metricTotals(text: string, at: number = performance.now()): MetricTotals {
  let all = 0;
  const lags = new Map<number, number>();
  for (const [, name, labels = "", value] of text.matchAll(/^(xdskit_\w+)\{(.*)\} (\S+)$/gm)) {
    if (name === pushes) all += Number(value);
    if (name !== lagBucket) continue;
    const [, le = ""] = /(?:^|,)le="([^"]*)"/.exec(labels) ?? [];
    const bound = le === "+Inf" ? Number.POSITIVE_INFINITY : Number(le);
    lags.set(bound, (lags.get(bound) ?? 0) + Number(value));
  }
  return { at, pushes: all, lags };
}

/** A server that started again counts from 0: then all that it counted is new. */
export function ratesBetween(before: MetricTotals, after: MetricTotals): MetricRates {
  const seconds = Math.max(0.001, (after.at - before.at) / 1_000);
  const isSame = after.pushes >= before.pushes;
  const sent = isSame ? after.pushes - before.pushes : after.pushes;
  const bounds = [...after.lags.keys()].sort((a, b) => a - b);
  const counts = bounds.map((bound) => (after.lags.get(bound) ?? 0) - (isSame ? (before.lags.get(bound) ?? 0) : 0));
  const total = counts.at(-1) ?? 0;
  // The upper bound of the bucket: it took no longer than that.
  const quantile = (part: number) => {
    const index = counts.findIndex((count) => count >= part * total);
    const bound = bounds[index] ?? 0;
    return (Number.isFinite(bound) ? bound : (bounds.at(-2) ?? 0)) * 1_000;
  };
  const lag = total <= 0 ? null : { p50Ms: quantile(0.5), p99Ms: quantile(0.99) };
  return { pushesPerSecond: sent / seconds, lag };
}
