/** A version of Envoy without the patch number, since the API does not change within a minor version. */
export interface EnvoyVersion {
  readonly major: number;
  readonly minor: number;
}

/** Reads `1.36`, `1.36.2` or `v1.36.2-dev`; undefined for anything else. */
export function parseEnvoyVersion(text: string): EnvoyVersion | undefined {
  const [, major, minor] = /^v?(\d{1,4})\.(\d{1,4})(?![\d])/.exec(text) ?? [];
  return major === undefined || minor === undefined ? undefined : { major: Number(major), minor: Number(minor) };
}

/** The usual notation: `1.36`. */
export function formatEnvoyVersion({ major, minor }: EnvoyVersion): string {
  return `${major}.${minor}`;
}

/** Below 0 if the first is older, 0 if they are equal. */
export function compareEnvoyVersions(a: EnvoyVersion, b: EnvoyVersion): number {
  return a.major - b.major || a.minor - b.minor;
}
