import assert from "node:assert/strict";
import { stringify } from "yaml";
import { describe } from "../errors/errors.js";
import { readResources } from "../files/resource-file.js";

export const url = (name: string) => `type.googleapis.com/envoy.${name}`;
export const cluster = (name: string, more: object = {}) => ({ name, connect_timeout: "1s", ...more });
export const typed = (type: string, resource: object) => ({ "@type": url(type), ...resource });
export const dumped = (name: string, more: object = {}) => ({
  cluster: typed("config.cluster.v3.Cluster", cluster(name, more)),
  version_info: "1",
});
export const address = (port: number, more: object = {}) => ({
  socket_address: { address: "0.0.0.0", port_value: port, ...more },
});
export const listener = (more: object) => ({ filter_chains: [{}], ...more });
export const eds = { type: "EDS", eds_cluster_config: { eds_config: { ads: {} } } };
export const load = (name: string, status = "HEALTHY") => ({
  endpoint_config: typed("config.endpoint.v3.ClusterLoadAssignment", {
    cluster_name: name,
    endpoints: [
      { load_balancing_weight: 0, lb_endpoints: [{ endpoint: { address: address(80) }, health_status: status }] },
    ],
  }),
});
export const section = (name: string, fields: object) => typed(`admin.v3.${name}ConfigDump`, fields);
export const secret = (name: string, fields: object) => ({
  name,
  secret: typed("extensions.transport_sockets.tls.v3.Secret", { name, ...fields }),
});

/** The result of both forms of a file, on lines: resources, adoptions and findings. */
export function read(content: unknown): readonly string[] {
  const [json, yaml] = [
    ["a.json", JSON.stringify(content, undefined, 1)],
    ["a.yaml", stringify(content, { aliasDuplicateObjects: false })],
  ].map(([path = "", text = ""]) => {
    const bytes = Buffer.from(text);
    const { resources, findings, adoptions } = readResources({ path, bytes });
    const byPlaces = readResources({ path, bytes }, { places: true });
    assert.deepEqual(byPlaces.adoptions, adoptions);
    assert.deepEqual(
      byPlaces.resources.map(({ resource, where }) => ({ ...resource, where })),
      resources.map(({ resource, where }) => ({ ...resource, where })),
    );
    return [
      ...resources.map(({ resource }) => `${resource.type.name} ${resource.name}`),
      ...adoptions.map(({ form, taken, leftOut }) => `${form} ${JSON.stringify(taken)} ${leftOut.join(", ")}`.trim()),
      ...findings.map((finding) => `${finding.severity} ${withoutPlace(describe(finding))}`),
    ];
  });
  assert.deepEqual(yaml, json);
  return json ?? [];
}

const withoutPlace = (text: string) => text.replace(/^a\.\w+:\d+:\d+: /, "");
