/** A version of Envoy, without the patch: its API does not change within one. */
export interface EnvoyVersion {
  readonly major: number;
  readonly minor: number;
}

/** Reads `1.36`, `1.36.2`, `v1.36.2-dev`; undefined for what is no version. */
export function parseEnvoyVersion(text: string): EnvoyVersion | undefined {
  const [, major, minor] = /^v?(\d{1,4})\.(\d{1,4})(?![\d])/.exec(text) ?? [];
  return major === undefined || minor === undefined ? undefined : { major: Number(major), minor: Number(minor) };
}

/** As people write it: `1.36`. */
export function formatEnvoyVersion({ major, minor }: EnvoyVersion): string {
  return `${major}.${minor}`;
}

/** Less than 0 where the first is the older one, 0 where they are the same. */
export function compareEnvoyVersions(a: EnvoyVersion, b: EnvoyVersion): number {
  return a.major - b.major || a.minor - b.minor;
}
