import assert from "node:assert/strict";
import { test } from "node:test";
import { readResources } from "../files/resource-file.js";
import { createResourceJson } from "../writing/resource-json.js";
import { createFromPaths } from "./from-paths.js";

const url = (name: string): string => `type.googleapis.com/envoy.${name}`;

function one(...resources: readonly object[]) {
  const { resources: read, findings } = readResources({
    path: "a.json",
    bytes: Buffer.from(JSON.stringify({ resources })),
  });
  assert.deepEqual(findings, []);
  const found = read[0]?.resource;
  assert.ok(found);
  return found;
}

const json = createResourceJson();
const fromPaths = createFromPaths(({ type, name }) => `/x/${type.split(".").at(-1)}/${name}`);
const moved = (resource: object) => JSON.parse(Buffer.from(json(fromPaths(one(resource)), "v3")).toString());
const at = (path: string) => ({ pathConfigSource: { path }, resourceApiVersion: "V3" });

test("a cluster's endpoints come from a file, whatever source it names, unless that is a file", () => {
  const cluster = (name: string, edsConfig: object, serviceName = "") => ({
    "@type": url("config.cluster.v3.Cluster"),
    name,
    type: "EDS",
    edsClusterConfig: { edsConfig, ...(serviceName === "" ? {} : { serviceName }) },
  });
  const server = { apiConfigSource: { apiType: "GRPC", grpcServices: [{ envoyGrpc: { clusterName: "xds" } }] } };
  const sourceOf = (resource: object) => moved(resource).edsClusterConfig.edsConfig;
  assert.deepEqual(sourceOf(cluster("a", { ads: {} })), at("/x/ClusterLoadAssignment/a"));
  assert.deepEqual(sourceOf(cluster("a", { ...server, initialFetchTimeout: "3s" }, "b")), {
    ...at("/x/ClusterLoadAssignment/b"),
    initialFetchTimeout: "3s",
  });
  const own = { pathConfigSource: { path: "/etc/eds.yaml" } };
  assert.deepEqual(sourceOf(cluster("a", own)), own);
});

test("routes, secrets and extensions come from files too, also inside of other resources", () => {
  const tls = url("extensions.transport_sockets.tls.v3.DownstreamTlsContext");
  const listener = moved({
    "@type": url("config.listener.v3.Listener"),
    name: "in",
    address: { socketAddress: { address: "127.0.0.1", portValue: 1 } },
    filterChains: [
      {
        filters: [
          {
            name: "hcm",
            typedConfig: {
              "@type": url("extensions.filters.network.http_connection_manager.v3.HttpConnectionManager"),
              statPrefix: "in",
              rds: { routeConfigName: "r", configSource: { ads: {} } },
              httpFilters: [{ name: "f", configDiscovery: { configSource: { ads: {} }, typeUrls: [tls] } }],
            },
          },
        ],
        transportSocket: {
          name: "tls",
          typedConfig: {
            "@type": tls,
            commonTlsContext: { tlsCertificateSdsSecretConfigs: [{ name: "s", sdsConfig: { ads: {} } }] },
          },
        },
      },
    ],
  });
  const [chain] = listener.filterChains;
  const manager = chain.filters[0].typedConfig;
  assert.deepEqual(manager.rds.configSource, at("/x/RouteConfiguration/r"));
  assert.deepEqual(manager.httpFilters[0].configDiscovery.configSource, at("/x/TypedExtensionConfig/f"));
  const [secret] = chain.transportSocket.typedConfig.commonTlsContext.tlsCertificateSdsSecretConfigs;
  assert.deepEqual(secret.sdsConfig, at("/x/Secret/s"));
});

test("a resource that names nothing stays the very same, and a TTL goes", () => {
  const plain = { "@type": url("config.cluster.v3.Cluster"), name: "a", connectTimeout: "1s" };
  const resource = one(plain);
  assert.equal(fromPaths(resource), resource);
  const wrapped = { "@type": url("service.discovery.v3.Resource"), name: "a", ttl: "5s", resource: plain };
  assert.equal(fromPaths(one(wrapped)).ttl, undefined);
  assert.equal(fromPaths(one(wrapped)).version, resource.version);
});
