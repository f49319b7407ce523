const unitMs: Readonly<Record<string, number>> = {
  H: 3_600_000,
  M: 60_000,
  S: 1_000,
  m: 1,
  u: 1 / 1_000,
  n: 1 / 1_000_000,
};

/** The time that `grpc-timeout` allows, in milliseconds: infinite without one, undefined if it is malformed. */
export function readGrpcTimeout(value: string | undefined): number | undefined {
  if (value === undefined) return Number.POSITIVE_INFINITY;
  const [, count, unit] = /^(\d{1,8})([HMSmun])$/.exec(value) ?? [];
  return count === undefined || unit === undefined ? undefined : Number(count) * (unitMs[unit] as number);
}
