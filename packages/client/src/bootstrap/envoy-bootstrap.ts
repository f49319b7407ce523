import { isDeepStrictEqual } from "node:util";
import { NodeSchema } from "@xdskit/api/envoy/config/core/v3/base";
import { ApiConfigSourceSchema, ConfigSourceSchema } from "@xdskit/api/envoy/config/core/v3/config_source";
import type { EnvoySourceField } from "../options/bootstrap-options.js";
import type { ClientOptions, FilesSettings, NodeSettings, ServerSettings } from "../options/client-options.js";
import type { DocumentPart } from "./document-part.js";
import { createFindCluster } from "./envoy-clusters.js";
import { apiSource, configSource, type EnvoySource, millisecondsOf } from "./envoy-sources.js";

/**
 * Reads Envoy's bootstrap: `dynamic_resources`, the clusters of `static_resources` that these name, `config_sources`,
 * and `node`; it reads nothing else. A client has one list of servers: if the fields differ, `use` chooses one.
 */
export function readEnvoyBootstrap(root: DocumentPart, use: EnvoySourceField | undefined): ClientOptions {
  const find = createFindCluster(root);
  const dynamic = root.field("dynamic_resources");
  const sources = new Map<EnvoySourceField, EnvoySource>();
  const adsPart = dynamic.field("ads_config");
  const ads =
    adsPart.value === undefined ? undefined : apiSource(adsPart.message(ApiConfigSourceSchema), adsPart, find, true);
  if (ads !== undefined) sources.set("ads_config", ads);
  let absentAfterMs: number | undefined;
  for (const [field, type] of [
    ["lds_config", "listener"],
    ["cds_config", "cluster"],
  ] as const) {
    const part = dynamic.field(field);
    if (part.value === undefined) continue;
    const message = part.message(ConfigSourceSchema);
    sources.set(field, configSource(message, type, part, find, ads));
    const timeout = millisecondsOf(message.initialFetchTimeout);
    // 0 means no timeout, which this client does not have.
    if (timeout !== undefined && timeout > 0) absentAfterMs = Math.max(absentAfterMs ?? 0, timeout);
  }
  const authorities = Object.fromEntries(
    root
      .field("config_sources")
      .items()
      .flatMap((part) => {
        const message = part.message(ConfigSourceSchema);
        const { servers } = configSource(message, "", part, find, ads);
        return message.authorities.map(({ name }) => [name, { servers }] as const);
      }),
  );
  const chosen = choose(sources, use, dynamic);
  if (chosen === undefined && Object.keys(authorities).length === 0) {
    throw dynamic.error("names no source of resources: ads_config, lds_config or cds_config");
  }
  const { servers = [], nodeOn = "every" } = chosen ?? {};
  return { servers, authorities, node: envoyNode(root.field("node")), nodeOn, absentAfterMs };
}

function choose(
  sources: ReadonlyMap<EnvoySourceField, EnvoySource>,
  use: EnvoySourceField | undefined,
  part: DocumentPart,
): EnvoySource | undefined {
  if (use !== undefined) {
    const chosen = sources.get(use);
    if (chosen === undefined) throw part.field(use).error("is missing");
    return chosen;
  }
  const [first, ...others] = sources.values();
  if (first === undefined) return undefined;
  const files = [...sources.values()].flatMap(({ servers }) => servers).filter(isFiles);
  if (files.length === sources.size) {
    return { ...first, servers: [{ kind: "files", files: files.flatMap((each) => each.files) }] };
  }
  if (others.every((other) => isDeepStrictEqual(other.servers, first.servers))) return first;
  const fields = [...sources.keys()].join(", ");
  throw part.error(
    `${fields} name different servers, and a client has only one list of servers: choose the field to use`,
  );
}

const isFiles = (server: ServerSettings): server is FilesSettings =>
  typeof server !== "string" && server.kind === "files";

function envoyNode(part: DocumentPart): NodeSettings {
  const { id, cluster, locality, metadata } = part.message(NodeSchema, "id", "cluster", "locality", "metadata");
  return {
    id,
    cluster: cluster || undefined,
    locality: locality && { region: locality.region, zone: locality.zone, subZone: locality.subZone },
    metadata,
  };
}
