import { protoCamelCase } from "@bufbuild/protobuf/reflect";
import type { ApiConfigSource, ConfigSource } from "@xdskit/api/envoy/config/core/v3/config_source";
import { isFederated } from "../../names/xdstp.js";
import type { SpecialProblem } from "./problem.js";
import { none, refused, refusedByEnvoy, within } from "./problem.js";

/** A message that Envoy refuses without a source of configuration. A name with `xdstp:` in front has its own. */
export function needsSource(field: string, nameField?: string): (message: object) => readonly SpecialProblem[] {
  const [source, named] = [field, nameField ?? ""].map(protoCamelCase) as [string, string];
  return (message) => {
    const fields = message as { readonly [name: string]: unknown };
    const name = nameField === undefined ? undefined : fields[named];
    if (fields[source] !== undefined || (typeof name === "string" && isFederated(name))) return none;
    return [refused([field], "must be set: it says where the configuration comes from, such as { ads: {} }")];
  };
}

/** A message whose source of configuration Envoy uses; it does not look at others, such as `lrs_server`. */
export function usedSource(field: string): (message: object) => readonly SpecialProblem[] {
  const name = protoCamelCase(field);
  return (message) => {
    const source = (message as { readonly [name: string]: ConfigSource | undefined })[name]?.configSourceSpecifier;
    if (source?.case === "self") return [refusedByEnvoy([field, "self"], "is no source, but ads is")];
    if (source?.case !== "apiConfigSource") return none;
    return within(apiSourceProblems(source.value), field, "api_config_source");
  };
}

/** ApiConfigSource.ApiType */
const [rest, grpc, deltaGrpc, aggregated] = [1, 2, 3, 5];

/** Where the API is depends on how it is spoken. */
function apiSourceProblems(source: ApiConfigSource): readonly SpecialProblem[] {
  const { apiType, grpcServices, clusterNames, refreshDelay } = source;
  if (apiType === aggregated)
    return [refused(["api_type"], "is for the bootstrap: a resource comes from ads, or from an API of its own type")];
  if (apiType === rest) {
    if (grpcServices.length > 0) return [refused(["grpc_services"], "must not be set for REST")];
    if (clusterNames.length !== 1)
      return [refused(["cluster_names"], "must have one name: the server of the REST API")];
    return refreshDelay === undefined ? [refused(["refresh_delay"], "must be set: it says how often to poll")] : none;
  }
  if (apiType !== grpc && apiType !== deltaGrpc) return none;
  if (clusterNames.length > 0) return [refused(["cluster_names"], "must not be set for gRPC: use grpc_services")];
  return grpcServices.length > 0 ? none : [refused(["grpc_services"], "must be set: it says where the server is")];
}
