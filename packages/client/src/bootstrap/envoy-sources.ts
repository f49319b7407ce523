import type { Duration } from "@bufbuild/protobuf/wkt";
import {
  type ApiConfigSource,
  ApiConfigSource_ApiType,
  ApiVersion,
  type ConfigSource,
} from "@xdskit/api/envoy/config/core/v3/config_source";
import type {
  FilesSettings,
  GrpcServerSettings,
  RestServerSettings,
  ServerSettings,
} from "../options/client-options.js";
import type { DocumentPart } from "./document-part.js";
import type { FindCluster } from "./envoy-clusters.js";
import { envoyService } from "./envoy-services.js";

/** The source of resources, by one field of the bootstrap. */
export interface EnvoySource {
  readonly servers: readonly ServerSettings[];
  readonly nodeOn: "first" | "every";
}

/** Resolves an `ApiConfigSource`. `aggregated`: this is the field that sets up ADS. */
export function apiSource(
  source: ApiConfigSource,
  part: DocumentPart,
  find: FindCluster,
  aggregated: boolean,
): EnvoySource {
  const nodeOn = source.setNodeOnFirstMessageOnly ? "first" : "every";
  const api = source.transportApiVersion === ApiVersion.V2 ? "v2" : "v3";
  const { apiType } = source;
  switch (apiType) {
    case ApiConfigSource_ApiType.REST:
      if (aggregated) throw part.field("api_type").error("there is no ADS over REST");
      return { servers: restServers(source, api, part, find), nodeOn };
    case ApiConfigSource_ApiType.GRPC:
    case ApiConfigSource_ApiType.DELTA_GRPC:
    case ApiConfigSource_ApiType.AGGREGATED_GRPC:
    case ApiConfigSource_ApiType.AGGREGATED_DELTA_GRPC: {
      const { DELTA_GRPC, AGGREGATED_GRPC, AGGREGATED_DELTA_GRPC } = ApiConfigSource_ApiType;
      const isDelta = apiType === DELTA_GRPC || apiType === AGGREGATED_DELTA_GRPC;
      const isAggregated = aggregated || apiType === AGGREGATED_GRPC || apiType === AGGREGATED_DELTA_GRPC;
      const services = part.field("grpc_services").items();
      const reached = source.grpcServices.flatMap((service, index) =>
        envoyService(service, services[index] ?? part, find),
      );
      if (reached.length === 0) throw part.field("grpc_services").error("names no server");
      const how = { variant: isDelta ? "delta" : "sotw", aggregated: isAggregated, api } as const;
      return { servers: reached.map((each): GrpcServerSettings => ({ ...each, ...how })), nodeOn };
    }
    default:
      throw part.field("api_type").error("expected GRPC, DELTA_GRPC, REST, AGGREGATED_GRPC or AGGREGATED_DELTA_GRPC");
  }
}

/** Resolves `cds_config`, `lds_config` or one of `config_sources`; `ads` is the meaning of `ads: {}`. */
export function configSource(
  source: ConfigSource,
  type: string,
  part: DocumentPart,
  find: FindCluster,
  ads: EnvoySource | undefined,
): EnvoySource {
  const { configSourceSpecifier: kind } = source;
  switch (kind.case) {
    case "ads":
      if (ads === undefined) throw part.field("ads").error("dynamic_resources has no ads_config");
      return ads;
    case "apiConfigSource":
      return apiSource(kind.value, part.field("api_config_source"), find, false);
    case "pathConfigSource":
      return filesSource(
        type,
        part.field("path_config_source").field("path").requiredText(),
        kind.value.watchedDirectory?.path,
      );
    case "path":
      return filesSource(type, part.field("path").requiredText(), undefined);
    default:
      throw part.error("needs ads, api_config_source or path_config_source");
  }
}

function filesSource(type: string, path: string, watchedDirectory: string | undefined): EnvoySource {
  const settings: FilesSettings = { kind: "files", files: [{ type, path, watchedDirectory }] };
  return { servers: [settings], nodeOn: "first" };
}

function restServers(
  source: ApiConfigSource,
  api: "v2" | "v3",
  part: DocumentPart,
  find: FindCluster,
): readonly RestServerSettings[] {
  const names = part.field("cluster_names");
  const reached = names.items().flatMap((name) => {
    const { addresses, tls } = find(name.requiredText(), name);
    return addresses.map((address) => ({ address, tls }));
  });
  if (reached.length === 0) throw names.error("names no server");
  return reached.map(({ address, tls }) => {
    if (address.startsWith("unix:")) throw names.error("REST over a socket file is not supported");
    return {
      kind: "rest",
      url: `${tls === undefined ? "http" : "https"}://${address}`,
      tls,
      refreshDelayMs: millisecondsOf(source.refreshDelay),
      // As Envoy does.
      requestTimeoutMs: millisecondsOf(source.requestTimeout) ?? 1_000,
      api,
    };
  });
}

/** Milliseconds, with their fractions. */
export function millisecondsOf(duration: Duration | undefined): number | undefined {
  return duration && Number(duration.seconds) * 1000 + duration.nanos / 1e6;
}
