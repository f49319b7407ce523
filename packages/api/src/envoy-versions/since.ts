import { generatedFile } from "../registry/generated-file.js";
import { compareEnvoyVersions, type EnvoyVersion, parseEnvoyVersion } from "./envoy-version.js";

let versions: ReadonlyMap<string, EnvoyVersion> | undefined;

/** The version that introduced each name that is newer than the oldest Envoy in the API table. Read on first use. */
function known(): ReadonlyMap<string, EnvoyVersion> {
  if (versions === undefined) {
    const text = new TextDecoder().decode(generatedFile("since.json"));
    const entries = Object.entries(JSON.parse(text) as Record<string, string>);
    versions = new Map(
      entries.flatMap(([name, since]) => {
        const version = parseEnvoyVersion(since);
        return version === undefined ? [] : [[name, version] as const];
      }),
    );
  }
  return versions;
}

/**
 * The version of Envoy that introduced a field, an enum value (`envoy.config.accesslog.v3.ComparisonFilter.Op.NE`) or a
 * type. Undefined for anything that came with its message or enum, or is older than all versions in the table.
 */
export function sinceOf(name: string): EnvoyVersion | undefined {
  return known().get(name);
}

/** The version of Envoy that introduced a message, or the message around it. */
export function sinceOfMessage(typeName: string): EnvoyVersion | undefined {
  for (let name = typeName; name.includes("."); name = name.slice(0, name.lastIndexOf("."))) {
    const since = sinceOf(name);
    if (since !== undefined) return since;
  }
  return undefined;
}

/** The oldest version in the table: what came with it or before counts as there from the beginning. */
export const oldestEnvoyVersion: EnvoyVersion = { major: 1, minor: 32 };

let newest: EnvoyVersion | undefined;

/** The newest version in the table. Older Envoys may lack something; this one and later ones do not. */
export function newestEnvoyVersion(): EnvoyVersion {
  newest ??= [...known().values()].reduce((a, b) => (compareEnvoyVersions(a, b) < 0 ? b : a), { major: 0, minor: 0 });
  return newest;
}
