import type { ConfigSource } from "@xdskit/api/envoy/config/core/v3/config_source";

/**
 * Why the client cannot ask for the resource that this source names; undefined if it can. The client does not know
 * which server an `api_config_source` means, and asks its own.
 */
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
