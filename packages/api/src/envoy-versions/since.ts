import { generatedFile } from "../generated-file.js";
import { compareEnvoyVersions, type EnvoyVersion, parseEnvoyVersion } from "./envoy-version.js";

let versions: ReadonlyMap<string, EnvoyVersion> | undefined;

/** Since when there is what is newer than the oldest version of Envoy that the table of its API knows, by full name. Read once, when somebody asks first. */
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
 * The version of Envoy that brought a field, an enum's value (`envoy.config.accesslog.v3.ComparisonFilter.Op.NE`) or a type. Undefined for what came with the message
 * or the enum that it is in, and for what is older than all versions that the table knows.
 */
export function sinceOf(name: string): EnvoyVersion | undefined {
  return known().get(name);
}

/** The version of Envoy that brought a message: its own, or that of what it is nested in. */
export function sinceOfMessage(typeName: string): EnvoyVersion | undefined {
  for (let name = typeName; name.includes("."); name = name.slice(0, name.lastIndexOf("."))) {
    const since = sinceOf(name);
    if (since !== undefined) return since;
  }
  return undefined;
}

let newest: EnvoyVersion | undefined;

/** The newest version of which something is known: older Envoys may lack something, this one and later ones do not. */
export function newestEnvoyVersion(): EnvoyVersion {
  newest ??= [...known().values()].reduce((a, b) => (compareEnvoyVersions(a, b) < 0 ? b : a), { major: 0, minor: 0 });
  return newest;
}
