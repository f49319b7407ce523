import type { ConfigSource } from "@xdskit/api/envoy/config/core/v3/config_source";

/** Why what this names cannot be asked for; undefined where it can. Which server an `api_config_source` means is not known: that of the client is asked. */
export function sourceProblem(source: ConfigSource | undefined): string | undefined {
  switch (source?.configSourceSpecifier.case) {
    case undefined:
      return "does not say where it comes from";
    case "path":
    case "pathConfigSource":
      return "comes from a file on the proxy's machine";
    default:
      return undefined;
  }
}
